import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Decision, decide } from './assembly/iam.ts';
import type { Journal } from './journal.ts';
import {
  type AwsAnswer,
  type AwsCall,
  type AwsService,
  awsError,
  type Caller,
  type Need,
  type RestService,
  UnknownOperationError,
} from './services/aws-service.ts';

export interface Gateway {
  /** `http://127.0.0.1:…`: the AWS endpoint of every function. */
  origin: string;
  /** Sets who may call and what is served; until then every call is refused. */
  serve(callers: ReadonlyMap<string, Caller>, services: AwsServices): void;
  close(): Promise<void>;
}

/** By the name in the signature, as `sqs`. */
type AwsServices = Record<string, AwsService | RestService>;

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
  let services: AwsServices = {};

  /** Undefined when the service has answered itself. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<AwsAnswer | undefined> {
    const target = parseAuthorization(request.headers.authorization);
    const caller = target && callers.get(target.accessKey);
    if (!caller) return awsError(403, 'UnrecognizedClientException', 'The security token is invalid.');
    const service = services[target.service];
    if (!service) throw new UnknownOperationError(target.service, `${request.method} ${request.url}`);
    const common = { region: target.region, headers: request.headers as Record<string, string>, caller };
    if ('pass' in service) {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const call = { ...common, method: request.method ?? 'GET', url };
      const denied = denial(caller, service.needs(call));
      if (denied) return denied.refusal ?? service.error(403, 'AccessDenied', denied.message);
      await service.pass(call, request, response, (need) => judge(caller, need) === 'allowed');
      return undefined;
    }
    const raw = await buffer(request);
    const call: AwsCall = {
      ...common,
      operation: operationOf(request),
      body: JSON.parse(raw.toString('utf8') || '{}'),
      raw,
    };
    const denied = denial(caller, service.needs(call));
    if (denied) return denied.refusal ?? awsError(400, 'AccessDeniedException', denied.message);
    return service.handle(call);
  }

  function judge({ role }: Caller, { action, resource, context = {}, resourcePolicy = [] }: Need): Decision {
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
    if (decision === 'allowed') journal.allow({ role: role.arn, action, resource, context });
    return decision;
  }

  /** The first thing that the caller may not do. */
  function denial(caller: Caller, needs: readonly Need[]) {
    for (const need of needs) {
      const decision = judge(caller, need);
      if (decision === 'allowed') continue;
      const { action, resource, refusal } = need;
      const reason =
        decision === 'not granted'
          ? `no identity-based policy allows the ${action} action`
          : 'with an explicit deny';
      const message = `User: ${sessionArn(caller.role.arn, caller.functionName)} is not authorized to perform: ${action} on resource: ${resource} because ${reason}`;
      journal.fail('access_denied', caller.functionName, message);
      return { message, refusal };
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    answer(request, response)
      .catch((error: unknown) => refuse(error, request))
      .then((result) => result && send(request, response, result))
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

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers = {} }: AwsAnswer,
): void {
  if (response.headersSent) throw new Error('the answer had begun');
  // A body that nobody reads would keep the connection busy.
  request.resume();
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
