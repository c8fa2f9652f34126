import * as z from 'zod';
import { type Clock, systemClock } from '../platform/clock.ts';
import { ParameterError, type Parameters } from '../platform/parameters.ts';
import { isAllowedServer } from './hosts.ts';

/** One RingCentral account: the application and user in whose name we call it, and its webhook secrets. */
export interface RingCentralAccount {
  accountId: string;
  server: string;
  clientId: string;
  clientSecret: string;
  jwt: string;
  webhookVerificationTokens: readonly string[];
}

const parameterSchema = z.object({
  server: z.string().refine(isAllowedServer).default('https://platform.ringcentral.com'),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  jwt: z.string().min(1),
  webhookVerificationTokens: z.array(z.string().min(1)),
});

const unknownForMs = 5 * 60_000;
const rememberedUnknown = 1_000;

/** The configured accounts: `{prefix}/{accountId}` in SSM. */
export interface Accounts {
  /**
   * The account, or undefined when no parameter has its id (remembered for five minutes).
   *
   * @throws ParameterError when SSM can't be read, or the parameter isn't what it should be (it names the field)
   */
  find(accountId: string): Promise<RingCentralAccount | undefined>;
  /** Reads the parameter anew after refused credentials; undefined when that was done within a minute. */
  refresh(accountId: string): Promise<RingCentralAccount | undefined>;
}

export function createAccounts(parameters: Parameters, prefix: string, clock: Clock = systemClock): Accounts {
  const unknownUntil = new Map<string, number>();
  const nameOf = (accountId: string) => `${prefix}/${accountId}`;
  return {
    async find(accountId) {
      if (!/^\d+$/.test(accountId)) return undefined;
      const now = clock.now().getTime();
      if (now < (unknownUntil.get(accountId) ?? 0)) return undefined;
      try {
        return parseAccount(accountId, nameOf(accountId), await parameters.get(nameOf(accountId)));
      } catch (error) {
        if (!isMissingParameter(error)) throw error;
        // Strangers may ask for any number of accounts.
        if (unknownUntil.size >= rememberedUnknown) unknownUntil.clear();
        unknownUntil.set(accountId, now + unknownForMs);
        return undefined;
      }
    },
    async refresh(accountId) {
      const value = await parameters.refresh(nameOf(accountId));
      return value === undefined ? undefined : parseAccount(accountId, nameOf(accountId), value);
    },
  };
}

/** The message names parameter and field, never a value: the parameter is full of secrets. */
function parseAccount(accountId: string, name: string, value: string): RingCentralAccount {
  let json: unknown;
  try {
    json = JSON.parse(value);
  } catch {
    throw new ParameterError(`SSM parameter ${name} is not JSON`);
  }
  const parsed = parameterSchema.safeParse(json);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.'));
    throw new ParameterError(`SSM parameter ${name}: missing or wrong ${[...new Set(fields)].join(', ')}`);
  }
  return { accountId, ...parsed.data, server: new URL(parsed.data.server).origin };
}

function isMissingParameter(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'ParameterNotFound' || isMissingParameter(error.cause);
}
