import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/** `none`: not asked for yet. `pending`: asked for, or to be asked for. `failed`: not listed in time. */
export const callLogStatuses = ['none', 'pending', 'found', 'failed'] as const;

/**
 * `pending`: not known yet. `expected`: a webhook named a recording. `available`: the call log has it.
 * `stored`: every recording of the session is. `none`, `too_short`, `deleted`, `gave_up`: there will be none,
 * and `recording_reason` says why.
 */
export const recordingStatuses = [
  'pending',
  'expected',
  'none',
  'available',
  'stored',
  'too_short',
  'deleted',
  'gave_up',
] as const;

/** `none`: the call log names no voicemail, or wasn't asked yet. */
export const voicemailStatuses = ['none', 'pending', 'stored', 'deleted', 'gave_up'] as const;

/** The first unfinished step of a parked call. `extension_call_log`: the account's call log is forbidden to us. */
export const nextSteps = [
  'call_log',
  'extension_call_log',
  'recording',
  'voicemail',
  'transcription',
] as const;

/** One event of one party. */
export interface StateChange {
  partyId: string;
  sequence: number;
  status: string;
  reason: string | null;
  direction: string | null;
  extensionId: string | null;
  /** ISO 8601. */
  eventTime: string;
}

/**
 * One telephony session. Several writers: the lifecycle (webhooks) writes what comes before `call_log_status`,
 * the call log and what follows from it write the rest.
 */
export const calls = pgTable(
  'calls',
  {
    accountId: text('account_id').notNull(),
    telephonySessionId: text('telephony_session_id').notNull(),
    /** The older id; "0" in conferences, so never a key. */
    sessionId: text('session_id'),

    // The party that tells most of the call: numbers and store first, then who answered, then who came first.
    partyId: text('party_id').notNull().default(''),
    /** How much that party's event tells; see src/calls/lifecycle.ts. */
    partyRank: integer('party_rank').notNull().default(0),
    partySequence: bigint('party_sequence', { mode: 'number' }).notNull().default(0),
    extensionId: text('extension_id'),
    /** 'inbound' or 'outbound'. */
    direction: text('direction'),
    /** E.164. */
    fromNumber: text('from_number'),
    toNumber: text('to_number'),
    /** E.164 of the outside party; null for anonymous callers and calls between extensions. */
    contactPhone: text('contact_phone'),
    storeId: uuid('store_id'),
    franchiseId: text('franchise_id'),

    /** Every extension that an event named, sorted: whose call log may be asked when the account's is forbidden. */
    extensionIds: text('extension_ids').array().notNull().default(sql`'{}'`),
    startedAt: instant('started_at').notNull(),

    /** State changes that no timeline can tell yet, since nobody has named the session's contact and store. */
    untold: jsonb('untold').$type<Record<string, StateChange>>().notNull().default({}),

    // The newest event, by sequence.
    /** RingCentral's code in lower case: 'setup', 'answered', 'disconnected', … */
    status: text('status').notNull(),
    /** The newest event's time if it ended its party; null again when the call goes on with another one. */
    endedAt: instant('ended_at'),
    /** -1: no webhook has told of this call. */
    lastSequence: bigint('last_sequence', { mode: 'number' }).notNull().default(-1),
    lastPartyId: text('last_party_id').notNull().default(''),
    lastEventAt: instant('last_event_at').notNull(),

    callLogStatus: text('call_log_status', { enum: callLogStatuses }).notNull().default('none'),
    /** The call log's own word, such as 'Accepted' or 'Missed'. */
    result: text('result'),
    durationMs: integer('duration_ms'),
    /** The session's call-log records; see `snapshotSchema` in src/ringcentral/schemas.ts. */
    snapshot: jsonb('snapshot').$type<Record<string, unknown>>(),
    /** When RingCentral answered with it. */
    snapshotAt: instant('snapshot_at'),
    recordingAvailable: boolean('recording_available').notNull().default(false),
    recordingStatus: text('recording_status', { enum: recordingStatuses }).notNull().default('pending'),
    recordingReason: text('recording_reason'),
    voicemailStatus: text('voicemail_status', { enum: voicemailStatuses }).notNull().default('none'),
    nextStep: text('next_step', { enum: nextSteps }),
    nextAttemptAt: instant('next_attempt_at'),
    /** Who fetches for this session at the moment, and since when: another message leaves it to them. */
    workedOnBy: text('worked_on_by'),
    workedOnAt: instant('worked_on_at'),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.telephonySessionId] }),
    index('ix_calls_store_started').on(table.storeId, table.startedAt),
    index('ix_calls_parked')
      .on(table.accountId, table.nextAttemptAt)
      .where(sql`${table.nextStep} is not null`),
    index('ix_calls_unresolved')
      .on(table.accountId, table.startedAt)
      .where(
        sql`${table.recordingStatus} in ('pending', 'expected', 'available') or ${table.voicemailStatus} = 'pending'`,
      ),
  ],
);

export type CallRow = typeof calls.$inferSelect;
