import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { buildApp } from 'fauxqs';
import type { BucketPlan } from '../assembly/buckets.ts';
import {
  type AwsAnswer,
  type Need,
  type RestCall,
  type RestService,
  UnknownOperationError,
} from './aws-service.ts';

/** The buckets from inside: what AWS's own services do with them. Keys as they are, not encoded. */
export interface Buckets {
  plans: readonly BucketPlan[];
  find(name: string): BucketPlan | undefined;
  /** The object's first bytes, or undefined where there is none. */
  head(bucket: string, key: string, bytes: number): Promise<Buffer | undefined>;
  put(bucket: string, key: string, body: string | Buffer, contentType: string): Promise<void>;
  /** Of a bucket, in the order of their names. */
  keys(bucket: string): Promise<string[]>;
  close(): Promise<void>;
}

/** fauxqs in process with the buckets of the templates, on a port of its own so that bodies can stream. */
export async function startBuckets(plans: readonly BucketPlan[]) {
  const fauxqs = buildApp({ logger: false });
  await fauxqs.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fauxqs.server.address() as AddressInfo;
  const path = (bucket: string, key = '') => `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
  for (const { name } of plans) await fauxqs.inject({ method: 'PUT', url: path(name) });

  const buckets: Buckets = {
    plans,
    find: (name) => plans.find((plan) => plan.name === name),
    async head(bucket, key, bytes) {
      const range = { range: `bytes=0-${bytes - 1}` };
      const answer = await fauxqs.inject({ method: 'GET', url: path(bucket, key), headers: range });
      // An empty object has no range.
      if (answer.statusCode === 416) return Buffer.alloc(0);
      return answer.statusCode < 300 ? answer.rawPayload : undefined;
    },
    async put(bucket, key, body, contentType) {
      const headers = { 'content-type': contentType };
      const answer = await fauxqs.inject({ method: 'PUT', url: path(bucket, key), headers, payload: body });
      if (answer.statusCode !== 200) throw new Error(`S3 PutObject ${bucket}: ${answer.body}`);
    },
    async keys(bucket) {
      const answer = await fauxqs.inject({ method: 'GET', url: `${path(bucket)}?list-type=2` });
      return [...answer.body.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key).sort();
    },
    close: () => fauxqs.close(),
  };

  const service: RestService = {
    needs(call) {
      const { bucket, key } = targetOf(call);
      const plan = buckets.find(bucket);
      const action = operationOf(call);
      const ofObject = action !== 's3:ListBucket';
      return [need(action, ofObject ? `arn:aws:s3:::${bucket}/${key}` : `arn:aws:s3:::${bucket}`, plan)];
    },
    async pass(call, request, response, may) {
      const { bucket } = targetOf(call);
      const plan = buckets.find(bucket);
      if (plan && plan.region !== call.region) {
        return write(response, xmlError(301, 'PermanentRedirect', `The bucket is in ${plan.region}.`));
      }
      const answer = await forward(port, call, request);
      const isRead = call.method === 'GET' || call.method === 'HEAD';
      // Whoever may not list a bucket isn't told that an object is missing (API_HeadObject).
      if (plan && isRead && answer.statusCode === 404 && !may(need('s3:ListBucket', plan.arn, plan))) {
        answer.resume();
        return write(response, xmlError(403, 'AccessDenied', 'Access Denied'));
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      await pipeline(answer, response);
    },
    error: xmlError,
  };
  return { buckets, service };
}

const need = (action: string, resource: string, plan: BucketPlan | undefined): Need => ({
  action,
  resource,
  resourcePolicy: plan?.policy ?? [],
});

/** Path style, as the SDK does with an address that is a number. */
function targetOf({ url }: RestCall): { bucket: string; key: string } {
  const [, bucket = '', ...key] = url.pathname.split('/').map(decodeURIComponent);
  return { bucket, key: key.join('/') };
}

/** The IAM action of a request (https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html). */
function operationOf(call: RestCall): string {
  const { method, url, headers } = call;
  const { key } = targetOf(call);
  const parameters = [...url.searchParams.keys()].filter((name) => name !== 'x-id').sort();
  const shape = `${method} ${key === '' ? 'bucket' : 'object'} ${parameters.join('&')}`.trim();
  const action = actions[shape] ?? (shape.startsWith('GET bucket list-type') ? 's3:ListBucket' : undefined);
  // fauxqs would take these and not heed them.
  const unheeded = Object.keys(headers).find(
    (name) =>
      name === 'x-amz-copy-source' || (method !== 'GET' && method !== 'HEAD' && name.startsWith('if-')),
  );
  if (!action || unheeded) throw new UnknownOperationError('S3', unheeded ? `${shape} ${unheeded}` : shape);
  return action;
}

const actions: Record<string, string> = {
  'GET object': 's3:GetObject',
  'HEAD object': 's3:GetObject',
  'PUT object': 's3:PutObject',
  'DELETE object': 's3:DeleteObject',
  'POST object uploads': 's3:PutObject',
  'PUT object partNumber&uploadId': 's3:PutObject',
  'POST object uploadId': 's3:PutObject',
  'DELETE object uploadId': 's3:AbortMultipartUpload',
  'HEAD bucket': 's3:ListBucket',
};

async function forward(
  port: number,
  { url, method }: RestCall,
  request: IncomingMessage,
): Promise<IncomingMessage> {
  const { expect: _, host: __, ...headers } = request.headers;
  const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: url.pathname + url.search, headers });
  const answered = once(outgoing, 'response');
  // The answer may come before the body is through, and says more than a broken pipe.
  pipeline(request, outgoing).catch(() => undefined);
  const [answer] = await answered;
  return answer;
}

function xmlError(status: number, code: string, message: string): AwsAnswer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  };
}

function write(response: ServerResponse, { status, headers, body }: AwsAnswer): void {
  response.writeHead(status, headers).end(body);
}
