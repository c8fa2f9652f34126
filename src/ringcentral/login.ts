import { errorCodeOf } from './errors.ts';
import { tokenSchema } from './schemas.ts';
import type { Send } from './send.ts';
import type { TokenPorts } from './tokens.ts';

const surface = 'oauth_token';
const timeoutMs = 10_000;
const refusals = new Set([400, 401, 403]);

/**
 * The JWT grant, as one request. Not by the SDK's `login`: that posts twice after a 401 and wipes its token
 * cache after any failure.
 */
export function createLogin(send: Send): TokenPorts['login'] {
  return async (account, slot) => {
    const { accountId, server, clientId, clientSecret, jwt } = account;
    const answer = await send(
      account,
      slot,
      { surface, accountId },
      {
        method: 'POST',
        url: new URL('/restapi/oauth/token', server),
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: jwt },
        timeoutMs,
      },
    );
    if (answer.kind !== 'answer') return answer;
    const { response } = answer;
    const body: unknown = await response.json().catch(() => undefined);
    const code = errorCodeOf(body);
    if (refusals.has(response.status)) {
      return { kind: 'refused', ...(code === undefined ? {} : { errorCode: code }) };
    }
    if (!response.ok) {
      const reason = response.status >= 500 ? 'server_error' : 'unexpected_status';
      return { kind: 'retry', surface, reason, status: response.status };
    }
    const token = tokenSchema.safeParse(body);
    if (!token.success)
      return { kind: 'retry', surface, reason: 'unreadable_answer', status: response.status };
    return {
      kind: 'granted',
      accessToken: token.data.access_token,
      expiresInSeconds: token.data.expires_in,
    };
  };
}
