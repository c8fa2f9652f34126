import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessRequest, Statement } from '../assembly/iam.ts';
import type { RolePlan } from '../assembly/roles.ts';

/** Who calls, recognised by the access key. */
export interface Caller {
  functionName: string;
  role: RolePlan;
}

/** One signed request of an AWS SDK. */
export interface AwsCall {
  region: string;
  /** From X-Amz-Target, as `SendMessage`. */
  operation: string;
  /** The JSON body, parsed. */
  body: Record<string, unknown>;
  /** For services that are passed on as they came. */
  raw: Buffer;
  headers: Record<string, string>;
  caller: Caller;
}

export interface AwsAnswer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** One thing that the caller must be allowed to do, and the resource policy that may allow it too. */
export interface Need extends Pick<AccessRequest, 'action' | 'resource'> {
  context?: AccessRequest['context'];
  resourcePolicy?: readonly Statement[];
  /** What the service answers instead of AccessDenied. */
  refusal?: AwsAnswer;
}

/** A local stand-in for one AWS service. */
export interface AwsService {
  /**
   * What the call needs.
   * @throws UnknownOperationError
   */
  needs(call: AwsCall): Need[];
  handle(call: AwsCall): Promise<AwsAnswer>;
}

/** One signed request of a service whose calls are method and path. */
export interface RestCall {
  region: string;
  method: string;
  url: URL;
  headers: Record<string, string>;
  caller: Caller;
}

/** A stand-in whose bodies are too large to be held: they pass through as they come. */
export interface RestService {
  /**
   * What the call needs.
   * @throws UnknownOperationError
   */
  needs(call: RestCall): Need[];
  /** @param may whether the caller may do more than it needed to */
  pass(
    call: RestCall,
    request: IncomingMessage,
    response: ServerResponse,
    may: (need: Need) => boolean,
  ): Promise<void>;
  error(status: number, type: string, message: string): AwsAnswer;
}

/** The stand-in doesn't know the operation: better an error than a silent difference from AWS. */
export class UnknownOperationError extends Error {
  override name = 'UnknownOperationError';
  constructor(service: string, operation: string) {
    super(`the local ${service} doesn't know the operation ${operation}`);
  }
}

const contentType = 'application/x-amz-json-1.1';

export function awsJson(body: unknown): AwsAnswer {
  return { status: 200, body: JSON.stringify(body), headers: { 'content-type': contentType } };
}

/** AWS's JSON error: the SDK makes an exception of that name of it. */
export function awsError(status: number, type: string, message: string): AwsAnswer {
  return {
    status,
    body: JSON.stringify({ __type: type, message, Message: message }),
    headers: { 'content-type': contentType, 'x-amzn-errortype': type },
  };
}
