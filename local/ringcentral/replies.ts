import type { Readable } from 'node:stream';

/** An answer of the simulator before rate-limit headers and faults. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string | { bytes: number; stream: Readable };
}

/** One request, its query parsed and its token resolved. */
export interface SimulatedRequest {
  method: string;
  url: URL;
  accept: string;
  body: string;
  accountId: string;
  /** The extension of the user that the JWT belongs to. */
  ownerExtensionId: string;
  /** Epoch milliseconds. */
  now: number;
  /** Origin of API URIs, and of media URIs. */
  platform: string;
  media: string;
}

export function json(status: number, body: unknown, contentType = 'application/json'): Reply {
  return { status, headers: { 'content-type': contentType }, body: JSON.stringify(body) };
}

const textualCodes: Record<number, string> = {
  401: 'TokenInvalid',
  403: 'InsufficientPermissions',
  404: 'NotFound',
};

/** RingCentral's error body: a textual code on top, the CMN/OAU/SUB code in `errors`. */
export function apiError(status: number, errorCode: string, more: Record<string, string> = {}): Reply {
  const message = `Simulated ${errorCode}`;
  return json(status, {
    errorCode: textualCodes[status] ?? errorCode,
    message,
    errors: [{ errorCode, message, ...more }],
    ...more,
  });
}

export const notFound = (parameterName: string): Reply => apiError(404, 'CMN-102', { parameterName });
