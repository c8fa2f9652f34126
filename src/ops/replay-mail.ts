import type { Database } from '../db/client.ts';
import type { LeadMailRow } from '../db/schema/index.ts';
import { missingGuardFields } from '../leads/lead-created.ts';
import { markPublished } from '../leads/ledger.ts';
import { type MailRecord, type PersistedMail, persistLeadPipeline } from '../leads/persist.ts';
import type { PublishOutcome } from '../leads/publish.ts';
import type { StoreDirectory } from '../leads/store-directory.ts';
import { type MailPosition, toRecord } from '../leads/take-mail.ts';
import type { MailOutcome, ParsedMail } from '../mail/parsed-mail.ts';
import type { Reading } from './replay-reading.ts';
import type { LedgerEntry } from './replay-targets.ts';

export interface ReplayDependencies {
  neon<T>(work: (db: Database) => Promise<T>): Promise<T>;
  directory: Pick<StoreDirectory, 'findByRecipients'>;
  publish(persisted: PersistedMail): Promise<PublishOutcome>;
  now(): Date;
}

/** What a mail is in the ledger, or would be. */
export interface MailState {
  outcome: MailOutcome;
  reason: string | null;
  leadId: string | null;
  storeId: string | null;
}

export interface ReplayPlan {
  record: MailRecord;
  /** `leadId` is the seed's key; beside another store's or mail's lead it gets that one's suffix when it is stored. */
  after: MailState;
  event: ReplayEvent;
}

/**
 * `due` — LeadCreated would go out. `published` — it went out now. `out` — it is out already, for the same lead.
 * `incomplete` — the lead lacks what it takes to call back. `none` — the mail makes no lead.
 */
export type ReplayEvent = 'due' | 'published' | 'out' | 'incomplete' | 'none';

/** Why a mail is left as it is. */
export type ReplayRefusal = 'copied_from_another_stage' | 'stored_text_tells_less';

/**
 * What reading a mail again would make of it. Nothing is written.
 *
 * @param entry what the ledger has of it; a mail that it doesn't know is taken as new
 */
export async function planReplay(
  { directory }: Pick<ReplayDependencies, 'directory'>,
  { from, parsed }: Reading,
  position: MailPosition,
  entry: LedgerEntry | undefined,
): Promise<ReplayPlan | { refused: ReplayRefusal }> {
  if (entry?.line.mirrored) return { refused: 'copied_from_another_stage' };
  // The stored text is the part that was once read: what it doesn't say the mail may still say.
  if (from === 'stored text' && parsed.outcome !== entry?.line.outcome)
    return { refused: 'stored_text_tells_less' };
  const match = await directory.findByRecipients(parsed.recipients);
  const record = toRecord(underKnownKey(parsed, entry), position, match);
  const { lead } = record;
  const after = {
    outcome: record.mail.outcome,
    reason: record.mail.reason,
    // Whose booking is cancelled the database decides.
    leadId: record.mail.outcome === 'lead' ? (lead?.id ?? null) : (entry?.line.leadId ?? null),
    storeId: lead?.storeId ?? null,
  };
  return { record, after, event: eventOf(record, entry) };
}

/** A better reader may compute another key of the same mail, which must not make a second mail of it. */
function underKnownKey(parsed: ParsedMail, entry: LedgerEntry | undefined): ParsedMail {
  return entry ? { ...parsed, mailKey: entry.line.mailKey } : parsed;
}

export function stateOf({ line, lead }: LedgerEntry): MailState {
  return { outcome: line.outcome, reason: line.reason, leadId: line.leadId, storeId: lead?.storeId ?? null };
}

function eventOf({ mail, lead }: MailRecord, entry: LedgerEntry | undefined): ReplayEvent {
  if (mail.outcome !== 'lead' || !lead) return 'none';
  if (entry?.line.publishedAt && isSameLead(entry.line, lead.id)) return 'out';
  // NULL never overwrites: what the row has it keeps.
  const stored = entry?.lead && isSameLead(entry.line, lead.id) ? entry.lead : undefined;
  const merged = {
    phone: lead.phone ?? stored?.phone ?? null,
    franchiseId: lead.franchiseId ?? stored?.franchiseId ?? null,
    accountId: lead.accountId ?? stored?.accountId ?? null,
    storeId: lead.storeId ?? stored?.storeId ?? null,
  };
  return missingGuardFields(merged).length > 0 ? 'incomplete' : 'due';
}

/** The same id, with or without the suffix that tells it from another's. */
function isSameLead({ leadId }: LeadMailRow, seedId: string): boolean {
  return leadId === seedId || leadId?.startsWith(`${seedId}#`) === true;
}

/**
 * Stores the new reading in place of the old one, and publishes LeadCreated if it is due: commit -> publish ->
 * published_at, as everywhere. May be repeated any number of times.
 *
 * @throws DatabaseError, or what the bus throws; a lead that is stored then is published by the next tick
 */
export async function carryOut(
  { neon, publish, now }: ReplayDependencies,
  { record }: ReplayPlan,
): Promise<{ after: MailState; event: ReplayEvent }> {
  const persisted = await neon((db) => persistLeadPipeline(db, record, { reread: true }));
  const { mail, lead } = persisted;
  const outcome = await publish(persisted);
  if (outcome === 'published') await neon((db) => markPublished(db, mail.mailKey, now()));
  return { after: stateOf({ line: mail, lead }), event: eventAfter(outcome, persisted) };
}

function eventAfter(outcome: PublishOutcome, { mail }: PersistedMail): ReplayEvent {
  if (outcome === 'published') return 'published';
  if (outcome === 'skipped') return 'incomplete';
  return mail.publishedAt ? 'out' : 'none';
}
