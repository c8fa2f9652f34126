import * as z from 'zod';
import { telephonyEventSchema } from '../../src/ringcentral/telephony-event.ts';
import type { SimulatedCall, SimulatedRecord, SimulatedVoicemail } from '../ringcentral/world.ts';

/** A webhook body to be posted as it is, to the account's path. */
export interface Notification {
  accountId: string;
  body: unknown;
}

/** What one file tells: webhooks, and what RingCentral will say of their calls. */
export interface CallFile {
  file: string;
  notifications: Notification[];
  calls: SimulatedCall[];
}

/** The file isn't what it should be; the message names the field. */
export class CallFileError extends Error {
  override name = 'CallFileError';
}

const id = z.union([z.string().min(1), z.number()]).transform(String);
/** Sound is made for it; a recording of a day would be a gigabyte. */
const seconds = z
  .number()
  .positive()
  .max(6 * 3600)
  .optional();
const accountId = z.union([z.string(), z.number()]).transform(String).pipe(z.string().regex(/^\d+$/));

const notificationSchema = z.looseObject({ event: z.string() });
/** The receiver refuses parties of nobody's account, so a file with one would be a mistake. */
const ownedPartiesSchema = z.object({
  body: z.object({ parties: z.array(z.object({ accountId })).min(1) }),
});

const recordSchema = z.looseObject({
  id,
  telephonySessionId: z.string().min(1),
  startTime: z.iso.datetime({ offset: true }),
  duration: z
    .number()
    .nonnegative()
    .max(6 * 3600)
    .default(0),
  type: z.string().optional(),
  direction: z.string().optional(),
});
type CallLogRecord = z.output<typeof recordSchema>;

const bundleSchema = z.strictObject({
  /** Where neither a notification nor anything else says it. */
  accountId: accountId.optional(),
  notifications: z.array(z.unknown()).default([]),
  callLog: z.array(recordSchema).default([]),
  recordings: z
    .array(
      z.strictObject({
        id,
        seconds,
        format: z.enum(['mp3', 'wav']).optional(),
      }),
    )
    .default([]),
  voicemails: z.array(z.strictObject({ id, seconds, transcript: z.string().optional() })).default([]),
});
type Bundle = z.output<typeof bundleSchema>;

/**
 * Reads a file of webhook bodies: one notification, an array of them, or
 * `{ notifications, callLog?, recordings?, voicemails?, accountId? }` with call-log records as RingCentral's API
 * answers them (`view=Detailed`).
 *
 * @param json the parsed file
 * @throws CallFileError naming file and field
 */
export function readCallFile(file: string, json: unknown): CallFile {
  const isBundle = typeof json === 'object' && json !== null && !Array.isArray(json) && !('event' in json);
  const bundle = check(file, bundleSchema, isBundle ? json : { notifications: [json].flat() }, []);
  if (bundle.notifications.length + bundle.callLog.length === 0) {
    throw new CallFileError(`${file}: neither a notification nor a call-log record`);
  }
  const path = isBundle ? ['notifications'] : [];
  const notifications = bundle.notifications.map((body, index) =>
    readNotification(file, body, Array.isArray(json) || isBundle ? [...path, index] : path, bundle.accountId),
  );
  const account = bundle.accountId ?? notifications[0]?.accountId;
  if (account === undefined) throw new CallFileError(`${file}: accountId is missing`);
  return { file, notifications, calls: callsOf(bundle, account) };
}

function readNotification(
  file: string,
  body: unknown,
  path: (string | number)[],
  account?: string,
): Notification {
  const { event } = check(file, notificationSchema, body, path);
  if (event.includes('/telephony/sessions')) {
    check(file, telephonyEventSchema, body, path);
    const owned = check(file, ownedPartiesSchema, body, path);
    return { accountId: owned.body.parties[0]?.accountId ?? '', body };
  }
  const [, named = account] = /\/account\/(\d+)/.exec(event) ?? [];
  if (named === undefined)
    throw new CallFileError(`${file}: ${[...path, 'event'].join('.')}: no account id in it`);
  return { accountId: named, body };
}

function check<S extends z.ZodType>(
  file: string,
  schema: S,
  value: unknown,
  path: (string | number)[],
): z.output<S> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const field = [...path, ...(issue?.path ?? [])].join('.') || 'as a whole';
  throw new CallFileError(`${file}: ${field}: ${issue?.message}`);
}

/** One call a telephony session, all of it to be had at once. */
function callsOf(bundle: Bundle, account: string): SimulatedCall[] {
  const sessions = groupBySession(bundle.callLog);
  return [...sessions].map(([telephonySessionId, records]) => ({
    accountId: account,
    telephonySessionId,
    endedAt: Math.max(...records.map(endOf)),
    records: records.map((record) => simulatedRecord(record)),
    recordings: recordingIdsOf(records).map((recordingId) => {
      const told = bundle.recordings.find((recording) => recording.id === recordingId);
      const seconds = told?.seconds ?? Math.max(1, ...records.map(({ duration }) => duration));
      return { id: recordingId, audio: { format: told?.format ?? ('mp3' as const), seconds }, contentAt: 0 };
    }),
    voicemails: voicemailsOf(records, bundle),
    events: [],
  }));
}

function groupBySession(records: readonly CallLogRecord[]): Map<string, CallLogRecord[]> {
  const sessions = new Map<string, CallLogRecord[]>();
  for (const record of records) {
    const known = sessions.get(record.telephonySessionId) ?? [];
    sessions.set(record.telephonySessionId, [...known, record]);
  }
  return sessions;
}

const startOf = ({ startTime }: CallLogRecord) => Date.parse(startTime);
const endOf = (record: CallLogRecord) => startOf(record) + record.duration * 1000;

function simulatedRecord(record: CallLogRecord): SimulatedRecord {
  return {
    id: record.id,
    sessionId: '',
    partyId: '',
    startedAt: startOf(record),
    durationMs: record.duration * 1000,
    type: record.type === 'Fax' ? 'Fax' : 'Voice',
    direction: record.direction === 'Outbound' ? 'Outbound' : 'Inbound',
    action: '',
    result: '',
    legs: [],
    visibleAt: 0,
    recordingVisibleAt: 0,
    raw: record,
  };
}

/** A record or a leg, as far as it is looked into here. */
const legSchema = z.looseObject({
  recording: z.looseObject({ id, contentUri: z.string().optional() }).optional(),
  message: z.looseObject({ id, uri: z.string().optional() }).optional(),
  extension: z.looseObject({ id: id.optional() }).optional(),
});

function legsOf(records: readonly CallLogRecord[]) {
  return records
    .flatMap((record) => [record, ...(Array.isArray(record.legs) ? record.legs : [])])
    .flatMap((leg) => {
      const checked = legSchema.safeParse(leg);
      return checked.success ? [checked.data] : [];
    });
}

/** Those that are ready: without a contentUri there is nothing to be had yet, nor will there be. */
const recordingIdsOf = (records: readonly CallLogRecord[]) => [
  ...new Set(legsOf(records).flatMap(({ recording }) => (recording?.contentUri ? recording.id : []))),
];

function voicemailsOf(records: readonly CallLogRecord[], bundle: Bundle): SimulatedVoicemail[] {
  const found = new Map<string, SimulatedVoicemail>();
  for (const { message, extension } of legsOf(records)) {
    if (!message) continue;
    const told = bundle.voicemails.find((voicemail) => voicemail.id === message.id);
    found.set(message.id, {
      id: Number(message.id),
      extensionId: /\/extension\/(\d+)\//.exec(message.uri ?? '')?.[1] ?? extension?.id ?? '',
      createdAt: Math.max(...records.map(endOf)),
      audio: { format: 'mp3', seconds: told?.seconds ?? 20 },
      transcription: told?.transcript === undefined ? 'NotAvailable' : 'Completed',
      transcribedAt: 0,
      transcript: told?.transcript ?? '',
      availability: 'Alive',
    });
  }
  return [...found.values()];
}
