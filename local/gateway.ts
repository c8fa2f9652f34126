import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { decide } from './assembly/iam.ts';
import type { Journal } from './journal.ts';
import {
  type AwsAnswer,
  type AwsCall,
  type AwsService,
  awsError,
  type Caller,
  UnknownOperationError,
} from './services/aws-service.ts';

export interface Gateway {
  /** `http://127.0.0.1:…`: the AWS endpoint of every function. */
  origin: string;
  /** Sets who may call and what is served; until then every call is refused. */
  serve(callers: ReadonlyMap<string, Caller>, services: Record<string, AwsService>): void;
  close(): Promise<void>;
}

interface Target {
  accessKey: string;
  region: string;
  service: string;
}

/**
 * The one AWS endpoint of all functions, on 127.0.0.1. The access key in the signature says which function
 * calls; its synthesized role, or the resource's policy, must grant what it asks, else the answer is AWS's
 * own AccessDeniedException.
 */
export async function startGateway(journal: Journal): Promise<Gateway> {
  let callers: ReadonlyMap<string, Caller> = new Map();
  let services: Record<string, AwsService> = {};

  async function answer(request: IncomingMessage): Promise<AwsAnswer> {
    const target = parseAuthorization(request.headers.authorization);
    const caller = target && callers.get(target.accessKey);
    if (!caller) return awsError(403, 'UnrecognizedClientException', 'The security token is invalid.');
    const service = services[target.service];
    if (!service) throw new UnknownOperationError(target.service, `${request.method} ${request.url}`);
    const raw = await buffer(request);
    const call: AwsCall = {
      region: target.region,
      operation: operationOf(request),
      body: JSON.parse(raw.toString('utf8') || '{}'),
      raw,
      headers: request.headers as Record<string, string>,
      caller,
    };
    return denial(call, service) ?? service.handle(call);
  }

  /** The refusal of the first thing that the caller may not do. */
  function denial(call: AwsCall, service: AwsService): AwsAnswer | undefined {
    const { role, functionName } = call.caller;
    for (const { action, resource, context = {}, resourcePolicy = [] } of service.needs(call)) {
      const decision = decide(
        // Locally there is no TLS; a policy that asks for it is meant for AWS's own endpoints.
        {
          action,
          resource,
          principal: `AWS:${role.arn}`,
          context: { ...context, 'aws:SecureTransport': ['true'] },
        },
        { identity: role.statements, resource: resourcePolicy },
      );
      if (decision === 'allowed') {
        journal.allow({ role: role.arn, action, resource });
        continue;
      }
      const reason =
        decision === 'not granted'
          ? `no identity-based policy allows the ${action} action`
          : 'with an explicit deny';
      const message = `User: ${sessionArn(role.arn, functionName)} is not authorized to perform: ${action} on resource: ${resource} because ${reason}`;
      journal.fail('access_denied', functionName, message);
      return awsError(400, 'AccessDeniedException', message);
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) => refuse(error, request))
      .then((result) => send(response, result))
      .catch(() => response.destroy());
  });

  function refuse(error: unknown, request: IncomingMessage): AwsAnswer {
    const { accessKey = '' } = parseAuthorization(request.headers.authorization) ?? {};
    const where = callers.get(accessKey)?.functionName ?? 'gateway';
    const message = error instanceof Error ? error.message : String(error);
    journal.fail('unknown_operation', where, message);
    return awsError(400, 'UnknownOperationException', message);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve(newCallers, newServices) {
      callers = newCallers;
      services = newServices;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `AWS4-HMAC-SHA256 Credential=KEY/20261103/us-east-1/sqs/aws4_request, …` */
function parseAuthorization(header = ''): Target | undefined {
  const [, accessKey, region, service] =
    /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(header) ?? [];
  return accessKey && region && service ? { accessKey, region, service } : undefined;
}

function operationOf(request: IncomingMessage): string {
  const target = String(request.headers['x-amz-target'] ?? '');
  return target.split('.').at(-1) ?? '';
}

function sessionArn(roleArn: string, session: string): string {
  return `${roleArn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/${session}`;
}

function send(response: ServerResponse, { status, body, headers = {} }: AwsAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
