import { asc } from 'drizzle-orm';
import {
  callRecordings,
  calls,
  contacts,
  contactTimeline,
  type LeadMailRow,
  leadMails,
  leads,
  tasks,
  transcripts,
  voicemails,
} from '../src/db/schema/index.ts';
import type { Databases } from './databases.ts';
import type { EventRecord } from './event-bus/bus.ts';
import type { FedMail } from './feed.ts';
import type { LocalMailbox } from './imap.ts';
import type { Journal, RunError } from './journal.ts';
import type { QueueDepth, Queues } from './services/sqs.ts';
import type { LocalStage } from './stage.ts';

/** What became of one mail. A fed mail without an outcome yet is `pending`. */
export interface MailOutcomeLine {
  file?: string;
  mailKey: string | null;
  outcome: LeadMailRow['outcome'] | 'pending';
  reason?: string;
  leadId?: string;
}

/** Everything that the run knows, as `--json` prints it. */
export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;

/** The running parts that a snapshot looks into. */
export interface Sources {
  databases: Pick<Databases, 'own'>;
  stage: Pick<LocalStage, 'queues' | 'buses' | 'plan'>;
  mailbox: Pick<LocalMailbox, 'folder' | 'uidValidity' | 'unseen'>;
  journal: Pick<Journal, 'errors'>;
  fed: readonly FedMail[];
}

/** Reads database, queues and bus. Rows are as Drizzle gives them; JSON makes ISO strings of the dates. */
export async function takeSnapshot({ databases: { own }, stage, mailbox, journal, fed }: Sources) {
  const ledger = await own.select().from(leadMails).orderBy(asc(leadMails.receivedAt), asc(leadMails.uid));
  const queues = await depths(stage.queues);
  return {
    mails: await mailLines(fed, ledger, mailbox),
    leads: await own.select().from(leads).orderBy(asc(leads.receivedAt), asc(leads.id)),
    contacts: await own.select().from(contacts).orderBy(asc(contacts.createdAt), asc(contacts.phone)),
    tasks: await own.select().from(tasks).orderBy(asc(tasks.dueAt), asc(tasks.taskId)),
    timeline: await own
      .select()
      .from(contactTimeline)
      .orderBy(asc(contactTimeline.occurredAt), asc(contactTimeline.idempotencyKey)),
    calls: await callLines(own),
    transcripts: await own
      .select()
      .from(transcripts)
      .orderBy(asc(transcripts.createdAt), asc(transcripts.sourceId)),
    queues,
    events: stage.buses.records.map(eventLine),
    errors: [...journal.errors, ...deadLetters(stage, queues)],
  };
}

/** Each call with its recordings and voicemails. */
async function callLines(own: Databases['own']) {
  const recordings = await own.select().from(callRecordings).orderBy(asc(callRecordings.recordingId));
  const messages = await own.select().from(voicemails).orderBy(asc(voicemails.messageId));
  const rows = await own.select().from(calls).orderBy(asc(calls.startedAt), asc(calls.telephonySessionId));
  return rows.map((call) => {
    const isOfCall = (row: Pick<typeof call, 'accountId' | 'telephonySessionId'>) =>
      row.accountId === call.accountId && row.telephonySessionId === call.telephonySessionId;
    return { ...call, recordings: recordings.filter(isOfCall), voicemails: messages.filter(isOfCall) };
  });
}

async function depths(queues: Queues): Promise<Record<string, QueueDepth>> {
  const found: Record<string, QueueDepth> = {};
  for (const { name, arn } of queues.plans) found[name] = await queues.depth(arn);
  return found;
}

/** A message in a queue that nobody reads waits for a person. */
function deadLetters({ queues, plan }: Sources['stage'], depthOf: Record<string, QueueDepth>): RunError[] {
  const read = new Set(plan.mappings.map(({ queueArn }) => queueArn));
  return queues.plans.flatMap(({ name, arn }): RunError[] => {
    const { visible = 0, inFlight = 0, delayed = 0 } = depthOf[name] ?? {};
    const waiting = visible + inFlight + delayed;
    if (read.has(arn) || waiting === 0) return [];
    return [{ kind: 'dead_letter', where: name, message: `${waiting} waiting` }];
  });
}

function eventLine({ event, deliveries }: EventRecord) {
  return {
    id: event.id,
    source: event.source,
    detailType: event['detail-type'],
    region: event.region,
    time: event.time,
    detail: event.detail,
    deliveries,
  };
}

/** One line a fed mail, in the order of feeding, then those that came in another way. */
async function mailLines(
  fed: readonly FedMail[],
  ledger: readonly LeadMailRow[],
  { folder, uidValidity, unseen }: Sources['mailbox'],
): Promise<MailOutcomeLine[]> {
  const own = new Map(
    ledger.flatMap((row) =>
      row.mailbox === folder && row.uidValidity === uidValidity ? [[row.uid, row] as const] : [],
    ),
  );
  const waiting = new Set(unseen());
  const used = new Set<string>();
  const lines: MailOutcomeLine[] = [];
  for (const mail of fed) {
    const row = own.get(mail.uid) ?? (waiting.has(mail.uid) ? undefined : await twinOf(mail, ledger));
    if (row) used.add(row.mailKey);
    lines.push({ ...(mail.file ? { file: mail.file } : {}), ...outcomeOf(row) });
  }
  return [...lines, ...ledger.filter(({ mailKey }) => !used.has(mailKey)).map(outcomeOf)];
}

/** The same mail fed twice has one row, with the UID of the first. */
async function twinOf({ source }: FedMail, ledger: readonly LeadMailRow[]): Promise<LeadMailRow | undefined> {
  const { parseMail } = await import('../src/mail/parse.ts');
  const { mailKey } = await parseMail(source);
  return ledger.find((row) => row.mailKey === mailKey);
}

function outcomeOf(row: LeadMailRow | undefined): MailOutcomeLine {
  if (!row) return { mailKey: null, outcome: 'pending' };
  const { mailKey, outcome, reason, leadId } = row;
  return { mailKey, outcome, ...(reason ? { reason } : {}), ...(leadId ? { leadId } : {}) };
}
