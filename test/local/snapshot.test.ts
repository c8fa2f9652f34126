import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueuePlan } from '../../local/assembly/queues.ts';
import type { FedMail } from '../../local/feed.ts';
import { type Queues, startQueues } from '../../local/services/sqs.ts';
import { type Sources, takeSnapshot } from '../../local/snapshot.ts';
import { leadMails } from '../../src/db/schema/index.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { freshDatabase } from '../support/database.ts';

const queue = (name: string, more: Partial<QueuePlan> = {}): QueuePlan => ({
  name,
  region: 'us-east-1',
  arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
  visibilitySeconds: 30,
  delaySeconds: 0,
  retentionSeconds: 3600,
  policy: [],
  ...more,
});
const plans = [queue('work'), queue('work-dlq')];
const source = Buffer.from('From: a@x.example\nTo: b@x.example\nMessage-ID: <1@x>\nSubject: x\n\nhello');
const received = new Date('2026-11-03T14:15:00Z');

let pool: pg.Pool;
let queues: Queues;
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: (await freshDatabase()).url });
  queues = (await startQueues(plans, 'http://127.0.0.1:1')).queues;
});
afterAll(async () => {
  await pool.end();
  await queues.close();
});

function sources(change: Partial<Sources>): Sources {
  return {
    databases: { own: drizzle(pool) },
    stage: {
      queues,
      buses: { records: [] } as unknown as Sources['stage']['buses'],
      plan: { mappings: [{ queueArn: plans[0]?.arn }] } as Sources['stage']['plan'],
    },
    mailbox: { folder: 'INBOX', uidValidity: 1, unseen: () => [] },
    journal: { errors: [] },
    fed: [],
    ...change,
  };
}

describe('what --json prints', () => {
  it('one line a fed mail: settled, a twin of it, still waiting; then those that were not fed', async () => {
    const { mailKey } = await parseMail(source);
    const row = { mailbox: 'INBOX', uidValidity: 1, parsed: {}, receivedAt: received };
    await drizzle(pool)
      .insert(leadMails)
      .values([
        { ...row, mailKey, uid: 1, outcome: 'quarantined', reason: 'unparsed' },
        { ...row, mailKey: 'f'.repeat(64), uid: 7, outcome: 'lead', leadId: 'lead' },
      ]);
    const fed: FedMail[] = [
      { uid: 1, file: 'a.eml', source },
      { uid: 2, file: 'copy-of-a.eml', source },
      { uid: 3, file: 'waiting.eml', source: Buffer.from('Subject: other\n\nx') },
    ];
    const mailbox = { folder: 'INBOX', uidValidity: 1, unseen: () => [3] };
    const { mails } = await takeSnapshot(sources({ fed, mailbox }));
    expect(mails).toEqual([
      { file: 'a.eml', mailKey, outcome: 'quarantined', reason: 'unparsed' },
      { file: 'copy-of-a.eml', mailKey, outcome: 'quarantined', reason: 'unparsed' },
      { file: 'waiting.eml', mailKey: null, outcome: 'pending' },
      { mailKey: 'f'.repeat(64), outcome: 'lead', leadId: 'lead' },
    ]);
  });

  it('a message that waits for a person is an error; one that waits for its worker is not', async () => {
    for (const { arn } of plans) await queues.send(arn, 'x');
    const before = { kind: 'access_denied', where: 'Poller', message: 'no' } as const;
    const { errors, queues: depths } = await takeSnapshot(sources({ journal: { errors: [before] } }));
    expect(errors).toEqual([before, { kind: 'dead_letter', where: 'work-dlq', message: '1 waiting' }]);
    expect(depths).toEqual({
      work: { visible: 1, inFlight: 0, delayed: 0 },
      'work-dlq': { visible: 1, inFlight: 0, delayed: 0 },
    });
  });
});
