import type { Snapshot } from './snapshot.ts';

/** One step of the flow as a table; shown on the terminal and on the page. */
export interface ReportTable {
  title: string;
  columns: string[];
  rows: string[][];
}

/** What the tables say beside the rows. */
export interface ReportNames {
  /** A store's name by its id. */
  nameOf(storeId: string | null): string;
  /** A store's time zone. */
  zoneOf(storeId: string | null): string;
  /** Every rule that waits for events, also those that none has reached. */
  rules: readonly string[];
}

/** The run step by step: from the mail to the task, and what is left in the queues. */
export function reportTables(snapshot: Snapshot, names: ReportNames): ReportTable[] {
  const { nameOf: storeName, zoneOf, rules } = names;
  const { mails, leads, events, contacts, tasks, timeline, calls, transcripts, queues } = snapshot;
  const mediaOf = new Map(
    calls.flatMap((call) =>
      [
        ...call.recordings.map(({ recordingId }) => `recording ${recordingId}`),
        ...call.voicemails.map(({ messageId }) => `voicemail ${messageId}`),
      ].map((name) => [name, call] as const),
    ),
  );
  const leadOf = new Map(leads.map((lead) => [lead.id, lead]));
  return [
    table(
      'Mails',
      ['mail', 'outcome', 'reason', 'lead'],
      mails,
      ({ file, mailKey, outcome, reason, leadId }) => [
        file ?? mailKey?.slice(0, 12) ?? '',
        outcome,
        reason ?? '',
        leadId ?? '',
      ],
    ),
    table('Leads', ['store', 'type', 'name', 'phone', 'e-mail', 'booked', 'status'], leads, (lead) => [
      storeName(lead.storeId),
      lead.leadType,
      personName(lead),
      lead.phone ?? '',
      lead.leadEmail,
      [lead.bookedDate, lead.bookedTime].filter(Boolean).join(' '),
      lead.parseStatus,
    ]),
    table('Events', ['event', 'lead', 'delivered by'], events, ({ detailType, detail, deliveries }) => [
      detailType,
      String((detail as { id?: unknown } | null)?.id ?? ''),
      deliveries
        .map(({ rule, outcome }) => (outcome === 'delivered' ? rule : `${rule}: ${outcome}`))
        .join(', '),
    ]),
    table('Rules', ['rule', 'delivered', 'failed'], rules, (rule) => {
      const deliveries = events
        .flatMap((event) => event.deliveries)
        .filter((delivery) => delivery.rule === rule);
      const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').length;
      return [rule, String(delivered), String(deliveries.length - delivered)];
    }),
    table('Contacts', ['store', 'phone', 'name', 'stage', 'status', 'last activity'], contacts, (contact) => [
      storeName(contact.storeId),
      contact.phone,
      personName(contact),
      contact.lifecycleStage,
      contact.leadStatus,
      localTime(contact.lastActivityAt, zoneOf(contact.storeId)),
    ]),
    table('Tasks', ['store', 'phone', 'due', 'priority', 'status', 'why'], tasks, (task) => [
      storeName(task.storeId),
      task.contactPhone,
      localTime(task.dueAt, zoneOf(task.storeId)),
      task.priority,
      task.status,
      task.actionNeededReason ?? '',
    ]),
    table('Timeline', ['store', 'phone', 'event', 'at', 'lead'], timeline, (row) => [
      storeName(row.storeId),
      row.contactPhone,
      row.eventType,
      localTime(row.occurredAt, zoneOf(row.storeId)),
      personName(leadOf.get(row.entityId)),
    ]),
    table(
      'Calls',
      ['store', 'contact', 'direction', 'started', 'status', 'result', 'recording', 'voicemail', 'next'],
      calls,
      (call) => [
        storeName(call.storeId),
        call.contactPhone ?? 'no number',
        call.direction ?? '',
        localTime(call.startedAt, zoneOf(call.storeId)),
        call.status,
        call.result ?? '',
        [call.recordingStatus, call.recordingReason].filter(Boolean).join(': '),
        call.voicemailStatus,
        call.nextAttemptAt ? (call.nextStep ?? '') : '',
      ],
    ),
    table('Transcripts', ['source', 'id', 'contact', 'told apart by', 'text'], transcripts, (transcript) => [
      transcript.source,
      transcript.sourceId,
      mediaOf.get(`${transcript.source} ${transcript.sourceId}`)?.contactPhone ?? 'no number',
      transcript.speakerBasis,
      transcript.text,
    ]),
    table('Queues', ['queue', 'visible', 'in flight', 'delayed'], Object.entries(queues), ([name, depth]) => [
      name,
      String(depth.visible),
      String(depth.inFlight),
      String(depth.delayed),
    ]),
  ];
}

function table<T>(
  title: string,
  columns: string[],
  items: readonly T[],
  row: (item: T) => string[],
): ReportTable {
  return { title, columns, rows: items.map(row) };
}

function personName(person: { firstName: string | null; lastName: string | null } | undefined): string {
  return [person?.firstName, person?.lastName].filter(Boolean).join(' ');
}

/** `Tue 2026-11-03 09:20 EST` in the store's zone. */
function localTime(instant: Date | null, timeZone: string): string {
  if (!instant) return '';
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-US', { timeZone, ...options }).format(instant);
  const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(instant);
  const zone = part({ timeZoneName: 'short', hour: 'numeric' }).split(' ').at(-1);
  const time = part({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return `${part({ weekday: 'short' })} ${day} ${time} ${zone}`;
}

/** The table as text: a title, and columns as wide as their widest cell. */
export function tableText({ title, columns, rows }: ReportTable): string {
  if (rows.length === 0) return `${title}: none\n`;
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...rows.map((row) => oneLine(row[i]).length)),
  );
  const line = (cells: readonly (string | undefined)[]) =>
    `  ${cells.map((cell, i) => oneLine(cell).padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd();
  const rule = `  ${widths.map((width) => '-'.repeat(width)).join('  ')}`;
  return `${[`${title} (${rows.length})`, line(columns), rule, ...rows.map(line)].join('\n')}\n`;
}

const maximumCell = 60;

/** What mails bring must not move the cursor or colour the terminal. */
function oneLine(text = ''): string {
  const clean = text.replaceAll(/\p{Cc}/gu, ' ');
  return clean.length > maximumCell ? `${clean.slice(0, maximumCell - 1)}…` : clean;
}
