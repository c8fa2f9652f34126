import { Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { defaultBus, defaultBusArn } from '../events.ts';

/** What a function may do: exact actions on exact ARNs. */
interface Permission {
  readonly actions: string[];
  readonly resources: string[];
  /** Why the resources can't be named one by one. */
  readonly wildcard?: string;
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string | string[]>>>>;
}

/** A variable's value together with what the function may do with it, so that the two never part ways. */
export interface Binding {
  readonly value: string;
  readonly allow: readonly Permission[];
}

/** A value that names no resource. */
export function setting(value: string): Binding {
  return { value, allow: [] };
}

/** An SSM SecureString. Its key is aws/ssm, whose own policy lets SSM decrypt for callers of the account. */
export function readsParameter(scope: IConstruct, name: string): Binding {
  const arn = Stack.of(scope).formatArn({
    service: 'ssm',
    resource: 'parameter',
    resourceName: name.slice(1),
  });
  return { value: name, allow: [{ actions: ['ssm:GetParameter'], resources: [arn] }] };
}

/**
 * All SecureStrings below a prefix, which belong to one stage alone (lib/config.ts). Not account by account: SSM
 * tells a parameter that is missing from one that is denied only to those who may read it.
 */
export function readsParametersBelow(scope: IConstruct, prefix: string): Binding {
  const wildcard = 'An unknown account is one whose parameter is not there: it has to be asked for to know';
  const { allow } = readsParameter(scope, `${prefix}/*`);
  return { value: prefix, allow: allow.map((permission) => ({ ...permission, wildcard })) };
}

/** The default bus of the stack's own region. */
export function publishesToDefaultBus(scope: IConstruct): Binding {
  const { region } = Stack.of(scope);
  return {
    value: defaultBus,
    allow: [{ actions: ['events:PutEvents'], resources: [defaultBusArn(scope, region)] }],
  };
}

/** A table of another application, read whole. */
export function scansTable(scope: IConstruct, table: { tableName: string; region: string }): Binding {
  const arn = Stack.of(scope).formatArn({
    service: 'dynamodb',
    region: table.region,
    resource: 'table',
    resourceName: table.tableName,
  });
  return { value: table.tableName, allow: [{ actions: ['dynamodb:Scan'], resources: [arn] }] };
}

/** Single items of a table, by key. */
export function usesItems(table: Table, operations: readonly ('Get' | 'Update' | 'Delete')[]): Binding {
  const actions = operations.map((operation) => `dynamodb:${operation}Item`);
  return { value: table.tableName, allow: [{ actions, resources: [table.tableArn] }] };
}

/** Reads and updates single items of a table, and only those whose key begins with one of the prefixes. */
export function usesItemsBelow(table: Table, prefixes: readonly string[]): Binding {
  const leadingKeys = prefixes.map((prefix) => `${prefix}*`);
  const conditions = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } };
  const { value, allow } = usesItems(table, ['Get', 'Update']);
  return { value, allow: allow.map((permission) => ({ ...permission, conditions })) };
}

/** Adds items to a table and looks for earlier ones in one of its indexes. */
export function putsAndQueries(table: Table, indexName: string): Binding {
  return {
    value: table.tableName,
    allow: [
      { actions: ['dynamodb:PutItem'], resources: [table.tableArn] },
      { actions: ['dynamodb:Query'], resources: [`${table.tableArn}/index/${indexName}`] },
    ],
  };
}

export function sendsTo(queue: IQueue): Binding {
  return {
    value: queue.queueUrl,
    allow: [{ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }],
  };
}

/** What an event source mapping needs, and a worker that decides itself when a message comes again. */
export function consumes(queue: IQueue): Binding {
  const actions = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'];
  return {
    value: queue.queueUrl,
    allow: [{ actions: actions.map((action) => `sqs:${action}`), resources: [queue.queueArn] }],
  };
}

/** Several bindings of one resource as one: its value, and the permissions of all. */
export function together(first: Binding, ...others: Binding[]): Binding {
  return { value: first.value, allow: [first, ...others].flatMap(({ allow }) => allow) };
}

/** Folders of the recordings bucket. */
const soundFolders = ['recordings', 'voicemails'] as const;
const transcriptsFolder = 'transcripts';

function objectsIn(
  bucket: Bucket,
  actions: string[],
  ...folders: ((typeof soundFolders)[number] | typeof transcriptsFolder)[]
): Permission {
  return {
    actions,
    resources: folders.map((folder) => bucket.arnForObjects(`${folder}/*`)),
    wildcard: 'Objects are named after recordings, voicemails and jobs, which nobody knows beforehand',
  };
}

/**
 * S3 says 404 of what isn't there only to those who may list, and 403 to all others. Looking at an object asks for no
 * prefix, so the list can't be limited to one; the bucket holds nothing else.
 */
function seesWhatIsMissing(bucket: Bucket): Permission {
  return { actions: ['s3:ListBucket'], resources: [bucket.bucketArn] };
}

/** Stores sound, and looks whether it is there (HeadObject is GetObject to IAM). */
export function storesSound(bucket: Bucket): Binding {
  const actions = ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'];
  return {
    value: bucket.bucketName,
    allow: [objectsIn(bucket, actions, ...soundFolders), seesWhatIsMissing(bucket)],
  };
}

/** Reads what Transcribe wrote. */
export function readsTranscripts(bucket: Bucket): Binding {
  return {
    value: bucket.bucketName,
    allow: [objectsIn(bucket, ['s3:GetObject'], transcriptsFolder), seesWhatIsMissing(bucket)],
  };
}

/**
 * Starts and looks up transcription jobs of this stage. Transcribe reads the sound and writes the transcript with
 * the permissions of whoever starts the job.
 */
export function transcribes(bucket: Bucket, stage: string): Binding {
  const jobs = Stack.of(bucket).formatArn({
    service: 'transcribe',
    resource: 'transcription-job',
    resourceName: `${stage}-*`,
  });
  return {
    value: bucket.bucketName,
    allow: [
      {
        actions: ['transcribe:StartTranscriptionJob'],
        resources: ['*'],
        wildcard: 'AWS has no resource-level form of StartTranscriptionJob',
        // Without an output bucket Transcribe would keep the transcript in one of its own.
        conditions: { StringEquals: { 'transcribe:OutputBucketName': bucket.bucketName } },
      },
      {
        actions: ['transcribe:GetTranscriptionJob'],
        resources: [jobs],
        wildcard:
          'A job is named after its stage and a recording or voicemail, which nobody knows beforehand',
      },
      objectsIn(bucket, ['s3:GetObject'], ...soundFolders),
      objectsIn(bucket, ['s3:PutObject'], transcriptsFolder),
    ],
  };
}
