import { randomUUID } from 'node:crypto';
import { apiError, json, type Reply } from './replies.ts';

/** One application and user of an account, as the RingCentral parameter describes it. */
export interface SimulatedAccount {
  accountId: string;
  clientId: string;
  clientSecret: string;
  jwt: string;
  /** The extension whose JWT it is: all that `extension/~` can see. */
  ownerExtensionId: string;
}

interface Session {
  accessToken: string;
  account: SimulatedAccount;
  expiresAt: number;
}

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Token endpoint: JWT grant, token expiry, and at most five sessions a user: a sixth ends the oldest. */
export class OAuth {
  readonly accounts: SimulatedAccount[];
  readonly #sessions: Session[] = [];
  readonly #tokenSeconds: number;
  readonly #maximumSessions = 5;

  constructor(accounts: SimulatedAccount[], tokenSeconds: number) {
    this.accounts = accounts;
    this.#tokenSeconds = tokenSeconds;
  }

  /** Basic credentials of the token request; the bucket's owner even when they are wrong. */
  clientOf(authorization: string | undefined): { clientId: string; clientSecret: string } {
    const [clientId = '', clientSecret = ''] = Buffer.from(
      authorization?.replace(/^Basic /, '') ?? '',
      'base64',
    )
      .toString()
      .split(':');
    return { clientId, clientSecret };
  }

  token(authorization: string | undefined, form: string, now: number): Reply {
    const { clientId, clientSecret } = this.clientOf(authorization);
    const fields = new URLSearchParams(form);
    const account = this.accounts.find(
      (known) => known.clientId === clientId && known.clientSecret === clientSecret,
    );
    if (!account) return refused(401, 'invalid_client', 'OAU-153');
    if (fields.get('grant_type') !== grantType) return refused(400, 'unsupported_grant_type', 'OAU-250');
    const user = this.accounts.find(
      (known) => known.clientId === clientId && known.jwt === fields.get('assertion'),
    );
    if (!user) return refused(400, 'invalid_grant', 'OAU-251');
    const session = {
      accessToken: `at-${randomUUID()}`,
      account: user,
      expiresAt: now + this.#tokenSeconds * 1000,
    };
    this.#sessions.push(session);
    const own = this.#sessions.filter(({ account: { jwt } }) => jwt === user.jwt);
    for (const old of own.slice(0, -this.#maximumSessions)) this.revoke(old.accessToken);
    return json(200, {
      access_token: session.accessToken,
      token_type: 'bearer',
      expires_in: this.#tokenSeconds,
      scope: 'ReadCallLog ReadCallRecording ReadMessages CallControl SubscriptionWebhook',
      owner_id: user.ownerExtensionId,
      endpoint_id: randomUUID(),
      session_id: randomUUID(),
    });
  }

  /** The token's account, or undefined when it is unknown, ended or expired. */
  accountOf(authorization: string | undefined, now: number): SimulatedAccount | undefined {
    const token = authorization?.match(/^Bearer (.+)$/i)?.[1];
    return this.#sessions.find(({ accessToken, expiresAt }) => accessToken === token && now < expiresAt)
      ?.account;
  }

  /** Ends one session, or all of them. */
  revoke(accessToken?: string): void {
    for (let index = this.#sessions.length - 1; index >= 0; index -= 1) {
      if (accessToken === undefined || this.#sessions[index]?.accessToken === accessToken) {
        this.#sessions.splice(index, 1);
      }
    }
  }
}

function refused(status: number, error: string, errorCode: string): Reply {
  const reply = apiError(status, errorCode);
  const body = JSON.parse(String(reply.body));
  return json(status, { ...body, error, error_description: body.message });
}
