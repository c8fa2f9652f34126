import { describe, expect, it } from 'vitest';
import { renderPage } from '../../local/page.ts';
import { reportTables, tableText } from '../../local/report.ts';
import type { Snapshot } from '../../local/snapshot.ts';

const storeId = '3f6f1f0a-5a0e-4c58-9a0b-6f6f0d3c1a01';
const names = {
  nameOf: () => 'Riverside',
  zoneOf: () => 'America/New_York',
  rules: ['Forwarding', 'LeadCreatedRule', 'NobodysRule'],
};
const identity = { contactPhone: '+12125550147', franchiseId: 'f', accountId: '1', storeId };
const received = new Date('2026-11-03T14:15:00Z');

/** One lead on its way; the visitor calls himself a script and moves the cursor. */
const snapshot = {
  mails: [
    { file: 'a.eml', mailKey: 'a'.repeat(64), outcome: 'lead', leadId: 'ana@x.example#1' },
    { mailKey: 'b'.repeat(64), outcome: 'quarantined', reason: 'unparsed' },
  ],
  leads: [
    {
      id: 'ana@x.example#1',
      storeId,
      leadType: 'Web Lead',
      firstName: '<script>alert(1)</script>',
      lastName: 'Lo\u001b[2Jpez',
      phone: '+12125550147',
      leadEmail: 'ana@x.example',
      parseStatus: 'parsed',
    },
  ],
  contacts: [],
  tasks: [
    {
      ...identity,
      dueAt: new Date('2026-11-03T14:20:00Z'),
      priority: 'high',
      status: 'pending',
      actionNeededReason: 'New Web Lead',
    },
  ],
  timeline: [{ ...identity, eventType: 'lead.created', occurredAt: received, entityId: 'ana@x.example#1' }],
  calls: [
    {
      storeId,
      contactPhone: '+12125550147',
      direction: 'inbound',
      startedAt: received,
      status: 'disconnected',
      result: 'Accepted',
      recordingStatus: 'stored',
      recordingReason: null,
      voicemailStatus: 'none',
      nextStep: 'recording',
      nextAttemptAt: null,
      recordings: [{ recordingId: '5500001' }],
      voicemails: [],
    },
    {
      storeId: null,
      contactPhone: null,
      direction: 'inbound',
      startedAt: received,
      status: 'disconnected',
      result: null,
      recordingStatus: 'gave_up',
      recordingReason: 'never_ready',
      voicemailStatus: 'pending',
      nextStep: 'voicemail',
      nextAttemptAt: received,
      recordings: [],
      voicemails: [],
    },
  ],
  transcripts: [
    { source: 'recording', sourceId: '5500001', speakerBasis: 'channel', text: 'Hi, <b>this</b> is [PII].' },
  ],
  queues: {
    work: { visible: 0, inFlight: 0, delayed: 0 },
    'work-dlq': { visible: 2, inFlight: 0, delayed: 1 },
  },
  events: [
    {
      detailType: 'LeadCreated',
      detail: { id: 'ana@x.example#1' },
      deliveries: [
        { rule: 'Forwarding', outcome: 'delivered' },
        { rule: 'LeadCreatedRule', outcome: 'failed' },
      ],
    },
  ],
  errors: [{ kind: 'dead_letter', where: 'work-dlq', message: '2 waiting' }],
} as unknown as Snapshot;

describe('the tables', () => {
  const tables = reportTables(snapshot, names);

  it('one a step of the flow, in its order', () => {
    expect(tables.map(({ title }) => title)).toEqual([
      'Mails',
      'Leads',
      'Events',
      'Rules',
      'Contacts',
      'Tasks',
      'Timeline',
      'Calls',
      'Transcripts',
      'Queues',
    ]);
  });

  it('a task is due in its store’s zone', () => {
    const due = tables.find(({ title }) => title === 'Tasks')?.rows[0]?.[2];
    expect(due).toBe('Tue 2026-11-03 09:20 EST');
  });

  it('an event shows who took it and who failed to', () => {
    expect(tables.find(({ title }) => title === 'Events')?.rows).toEqual([
      ['LeadCreated', 'ana@x.example#1', 'Forwarding, LeadCreatedRule: failed'],
    ]);
  });

  it('each rule with its deliveries, also one that no event reached', () => {
    expect(tables.find(({ title }) => title === 'Rules')?.rows).toEqual([
      ['Forwarding', '1', '0'],
      ['LeadCreatedRule', '0', '1'],
      ['NobodysRule', '0', '0'],
    ]);
  });

  it('a call: whose, how far, and what it waits for', () => {
    expect(tables.find(({ title }) => title === 'Calls')?.rows.map((row) => row.slice(1))).toEqual([
      [
        '+12125550147',
        'inbound',
        'Tue 2026-11-03 09:15 EST',
        'disconnected',
        'Accepted',
        'stored',
        'none',
        '',
      ],
      [
        'no number',
        'inbound',
        'Tue 2026-11-03 09:15 EST',
        'disconnected',
        '',
        'gave_up: never_ready',
        'pending',
        'voicemail',
      ],
    ]);
  });

  it('a transcript: of whose call, and what was said', () => {
    expect(tables.find(({ title }) => title === 'Transcripts')?.rows).toEqual([
      ['recording', '5500001', '+12125550147', 'channel', 'Hi, <b>this</b> is [PII].'],
    ]);
  });

  it('as text: aligned, without control characters, none where there is none', () => {
    const [mails, leads, , , contacts] = tables.map(tableText);
    expect(mails).toBe(
      [
        'Mails (2)',
        '  mail          outcome      reason    lead',
        '  ------------  -----------  --------  ---------------',
        '  a.eml         lead                   ana@x.example#1',
        '  bbbbbbbbbbbb  quarantined  unparsed',
        '',
      ].join('\n'),
    );
    expect(leads).not.toContain('\u001b');
    expect(contacts).toBe('Contacts: none\n');
  });
});

describe('the page', () => {
  const html = renderPage({
    stage: 'prod',
    snapshot,
    names,
    redrivable: new Set(['work-dlq']),
    lines: [{ at: received, functionName: 'Poller', line: '<b>line</b>' }],
    nonce: 'nonce',
    notice: '2 moved',
  });

  it('shows every table with heading and caption', () => {
    for (const title of [
      'Mails',
      'Leads',
      'Events',
      'Rules',
      'Contacts',
      'Tasks',
      'Timeline',
      'Calls',
      'Transcripts',
      'Queues',
      'Errors',
    ]) {
      expect(html).toContain(`<h2 id="${title.toLowerCase()}">${title}</h2>`);
    }
    expect(html.match(/<table>/g)?.length).toBe(html.match(/<caption>/g)?.length);
    expect(html).toContain('<p role="status">2 moved</p>');
  });

  it('what mails and functions say is text, never markup', () => {
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('14:15:00.000 Poller &lt;b&gt;line&lt;/b&gt;');
  });

  it('a redrive button with its name, only where there is something to redrive to', () => {
    expect(html.match(/<button[^>]*>/g)).toEqual([
      '<button name="queue" value="work-dlq" aria-label="Redrive work-dlq">',
    ]);
  });

  it('loads nothing from anywhere', () => {
    expect(html.match(/(?:src|href)="(?!data:)[^"]*"/g)).toBeNull();
    expect(html).not.toMatch(/https?:\/\//);
  });
});
