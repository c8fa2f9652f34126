import type { FetchMessageObject, FetchQueryObject } from 'imapflow';
import type { ImapConnection } from './imap-connection.ts';
import { planReducedSource } from './imap-reduced-source.ts';
import { MailboxError, type MailEnvelope } from './mailbox.ts';

/** Above this RFC822.SIZE only headers and text parts are fetched. */
export const fullSourceLimit = 5 * 1024 * 1024;

/** UIDs in one command: RFC 7162 advises lines of at most 8192 octets. */
const uidsPerCommand = 500;

/** FETCH on the open folder. imapflow always sends BODY.PEEK, so nothing here sets \Seen. */
export function createFetcher(connection: ImapConnection) {
  /** Rows by UID. A server may split one mail over several rows, and slip in flag changes of others. */
  async function rows(
    uids: readonly number[],
    query: FetchQueryObject,
  ): Promise<Map<number, FetchMessageObject>> {
    const found = new Map<number, FetchMessageObject>();
    for (let start = 0; start < uids.length; start += uidsPerCommand) {
      const wanted = new Set(uids.slice(start, start + uidsPerCommand));
      const answer = await connection.run('fetch', (client) =>
        client.fetchAll([...wanted], query, { uid: true }),
      );
      for (const row of answer.filter(({ uid }) => wanted.has(uid))) {
        found.set(row.uid, { ...found.get(row.uid), ...row });
      }
    }
    return found;
  }

  async function row(uid: number, query: FetchQueryObject): Promise<FetchMessageObject | undefined> {
    return (await rows([uid], query)).get(uid);
  }

  /**
   * Envelopes by UID. One mail that the server can't parse makes some refuse or leave out the envelope (of
   * all); what the server keeps beside the mail (arrival, size, flags) it can still give.
   */
  async function envelopes(uids: readonly number[]): Promise<Map<number, MailEnvelope>> {
    const beside = { internalDate: true, size: true, flags: true };
    const full = await rows(uids, { ...beside, envelope: true }).catch((error: unknown) => {
      if (error instanceof MailboxError && error.code === 'fetch_refused')
        return new Map<number, FetchMessageObject>();
      throw error;
    });
    const found = toEnvelopes(full);
    const missing = uids.filter((uid) => !found.has(uid));
    if (missing.length === 0) return found;
    return new Map([...found, ...toEnvelopes(await rows(missing, beside))]);
  }

  async function recipientHeaders(uid: number): Promise<Buffer | undefined> {
    const headers = ['Delivered-To', 'X-Forwarded-To', 'X-Original-To', 'To', 'Cc'];
    return (await row(uid, { headers }))?.headers;
  }

  /** `undefined` when the server handed out nothing. Some answer OK with an empty source: no mail either. */
  async function source(uid: number, size: number): Promise<Buffer | undefined> {
    if (size > fullSourceLimit) return reducedSource(uid);
    const bytes = (await row(uid, { source: true }))?.source;
    return bytes && (bytes.length > 0 || size === 0) ? bytes : undefined;
  }

  async function reducedSource(uid: number): Promise<Buffer | undefined> {
    const structure = (await row(uid, { bodyStructure: true }))?.bodyStructure;
    if (!structure) return undefined;
    const plan = planReducedSource(structure);
    const answer = await row(uid, plan.query);
    return answer && plan.assemble(answer);
  }

  return { rows, row, envelopes, recipientHeaders, source };
}

export function hasSeen({ flags }: FetchMessageObject): boolean {
  return [...(flags ?? [])].some((flag) => flag.toLowerCase() === '\\seen');
}

/** Without those that lack a readable INTERNALDATE: the arrival time is part of a lead's key. */
function toEnvelopes(rows: ReadonlyMap<number, FetchMessageObject>): Map<number, MailEnvelope> {
  const envelopes = new Map<number, MailEnvelope>();
  for (const row of rows.values()) {
    const { internalDate } = row;
    if (internalDate instanceof Date) envelopes.set(row.uid, toEnvelope(row, internalDate));
  }
  return envelopes;
}

function toEnvelope(row: FetchMessageObject, receivedAt: Date): MailEnvelope {
  const { uid, size = 0, envelope = {} } = row;
  const { messageId, subject, from = [], to = [] } = envelope;
  const sender = from[0]?.address;
  return {
    uid,
    receivedAt,
    size,
    seen: hasSeen(row),
    ...(messageId ? { messageId } : {}),
    ...(subject ? { subject } : {}),
    ...(sender ? { from: sender } : {}),
    to: to.flatMap(({ address }) => (address ? [address] : [])),
  };
}
