import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Journal } from '../../local/journal.ts';
import type { LocalStage } from '../../local/stage.ts';
import { deploy, propertiesOf, resource, role } from './templates.ts';

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const folder = (id: string, name: string) => ({ 'Fn::Join': ['', [arn(id), `/${name}/*`]] });
const allow = (Action: string | string[], Resource: unknown) => ({ Effect: 'Allow', Action, Resource });

let stage: LocalStage;
let journal: Journal;
beforeAll(async () => {
  ({ stage, journal } = await deploy(({ calls }) => {
    calls.Sounds = resource('AWS::S3::Bucket', { BucketName: 'sounds' });
    calls.Others = resource('AWS::S3::Bucket', { BucketName: 'others' });
    calls.OthersPolicy = resource('AWS::S3::BucketPolicy', {
      Bucket: { Ref: 'Others' },
      PolicyDocument: {
        Statement: [
          { ...allow('s3:GetObject', folder('Others', 'open')), Principal: { AWS: arn('LonelyRole') } },
        ],
      },
    });
    calls.KeeperRole = role(
      'lambda.amazonaws.com',
      allow(['s3:PutObject', 's3:GetObject', 's3:AbortMultipartUpload'], folder('Sounds', 'recordings')),
      allow('s3:ListBucket', arn('Sounds')),
    );
    calls.LonelyRole = role('lambda.amazonaws.com', allow('s3:GetObject', folder('Sounds', 'recordings')));
    for (const name of ['Keeper', 'Lonely']) {
      calls[name] = resource('AWS::Lambda::Function', {
        ...propertiesOf(calls, 'Worker'),
        Handler: 'caller.handler',
        Role: arn(`${name}Role`),
        Timeout: 60,
      });
    }
  }));
});
afterAll(() => stage.close());

/** One SDK call of a function, whose answer or error comes back. */
async function call(name: 'Keeper' | 'Lonely', command: string, key: string, more: object = {}) {
  const { megabytes, region, ...input } = more as { megabytes?: number; region?: string };
  const result = await stage.functions.get(`Calls-${name}`)?.invoke({
    service: 's3',
    command,
    input: { Bucket: 'sounds', ...(key ? { Key: key } : {}), ...input },
    megabytes,
    region,
  });
  return (result?.ok ? result.payload : result) as Record<string, unknown>;
}

describe('S3, seen by the unmodified SDK', { timeout: 60_000 }, () => {
  it('keeps an object with its type and metadata', async () => {
    const put = { Body: 'sound', ContentType: 'audio/mpeg', Metadata: { bytes: '5' } };
    expect(await call('Keeper', 'PutObjectCommand', 'recordings/a b+c.mp3', put)).toMatchObject({
      ETag: expect.any(String),
    });
    expect(await call('Keeper', 'HeadObjectCommand', 'recordings/a b+c.mp3')).toMatchObject({
      ContentLength: 5,
      ContentType: 'audio/mpeg',
      Metadata: { bytes: '5' },
    });
    expect(await call('Lonely', 'GetObjectCommand', 'recordings/a b+c.mp3')).toMatchObject({ text: 'sound' });
    expect(await stage.buckets.keys('sounds')).toEqual(['recordings/a b+c.mp3']);
  });

  it('takes a large body in parts as it comes, and a broken one is put away', async () => {
    expect(await call('Keeper', 'Upload', 'recordings/long.mp3', { megabytes: 24 })).toMatchObject({
      ETag: expect.any(String),
    });
    expect(await call('Keeper', 'HeadObjectCommand', 'recordings/long.mp3')).toMatchObject({
      ContentLength: 24 * 1024 * 1024,
    });
    const { UploadId } = await call('Keeper', 'CreateMultipartUploadCommand', 'recordings/broken.mp3');
    const aborted = await call('Keeper', 'AbortMultipartUploadCommand', 'recordings/broken.mp3', {
      UploadId,
    });
    expect(aborted).toEqual({});
    expect(
      await call('Lonely', 'AbortMultipartUploadCommand', 'recordings/broken.mp3', { UploadId }),
    ).toMatchObject({
      name: 'AccessDenied',
      status: 403,
    });
  });

  it('a missing object is 404 only to those who may list the bucket', async () => {
    expect(await call('Keeper', 'GetObjectCommand', 'recordings/none')).toMatchObject({
      name: 'NoSuchKey',
      status: 404,
    });
    expect(await call('Keeper', 'HeadObjectCommand', 'recordings/none')).toMatchObject({
      name: 'NotFound',
      status: 404,
    });
    expect(await call('Lonely', 'GetObjectCommand', 'recordings/none')).toMatchObject({
      name: 'AccessDenied',
      status: 403,
    });
    expect(await call('Lonely', 'HeadObjectCommand', 'recordings/none')).toMatchObject({ status: 403 });
  });

  it.each<[string, 'Keeper' | 'Lonely', string, string]>([
    ['writing without the right', 'Lonely', 'PutObjectCommand', 's3:PutObject'],
    ['multipart without the right', 'Lonely', 'CreateMultipartUploadCommand', 's3:PutObject'],
    ['deleting', 'Keeper', 'DeleteObjectCommand', 's3:DeleteObject'],
  ])('%s: AccessDenied', async (_, name, command, action) => {
    const error = await call(name, command, 'recordings/x', command.startsWith('Put') ? { Body: 'x' } : {});
    expect(error).toMatchObject({ name: 'AccessDenied', status: 403, attempts: 1 });
    expect(error.message).toContain(
      `is not authorized to perform: ${action} on resource: arn:aws:s3:::sounds/recordings/x`,
    );
  });

  it('another folder, and another bucket: by the role, or by the bucket’s policy', async () => {
    expect(await call('Keeper', 'PutObjectCommand', 'elsewhere/x', { Body: 'x' })).toMatchObject({
      name: 'AccessDenied',
    });
    const open = { Bucket: 'others' };
    expect(await call('Keeper', 'GetObjectCommand', 'open/x', open)).toMatchObject({ name: 'AccessDenied' });
    await stage.buckets.put('others', 'open/x', 'here', 'text/plain');
    expect(await call('Lonely', 'GetObjectCommand', 'open/x', open)).toMatchObject({ text: 'here' });
  });

  it('a bucket is in one region', async () => {
    const east = { region: 'us-east-1' };
    const error = await call('Keeper', 'GetObjectCommand', 'recordings/a b+c.mp3', east);
    expect(error).toMatchObject({ name: 'PermanentRedirect', status: 301 });
  });

  it('what the stand-in would not heed is an error that names it', async () => {
    await call('Keeper', 'PutObjectCommand', 'recordings/x', { Body: 'x', IfNoneMatch: '*' });
    await call('Keeper', 'GetObjectTaggingCommand', 'recordings/x');
    expect(
      journal.errors.filter(({ kind }) => kind === 'unknown_operation').map(({ message }) => message),
    ).toEqual([
      "the local S3 doesn't know the operation PUT object if-none-match",
      "the local S3 doesn't know the operation GET object tagging",
    ]);
  });
});
