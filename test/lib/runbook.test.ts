import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AlarmName, alarmTexts, runbookAnchor } from '../../lib/alarms.ts';
import { stages } from '../../lib/config.ts';
import { savedQueries } from '../../lib/queries.ts';
import { logEvents } from '../../src/platform/log-events.ts';
import { metricUnits } from '../../src/platform/metric-names.ts';
import { freshDatabase } from '../support/database.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

const runbook = readFileSync(path.join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const prod = templatesOf(placeholderApp(stages.filter(({ name }) => name === 'prod')));

/** The text under a heading, up to the next one of its level or above; subheadings stay in it. */
function section(heading: string): string {
  const level = heading.split(' ')[0]?.length ?? 0;
  const [, after = ''] = runbook.split(`\n${heading}\n`);
  return after.split(new RegExp(`\\n#{1,${level}} `))[0] ?? '';
}
const subheadings = (text: string) => [...text.matchAll(/^### (.+)$/gm)].map((match) => match[1] ?? '');
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))].map(
    (match) => match[1] ?? '',
  );

describe('articles', () => {
  const names = Object.keys(alarmTexts) as AlarmName[];

  it.each(['page', 'look'] as const)(
    'of severity %s are those of the alarms, no more and no less',
    (severity) => {
      const heading = severity === 'page' ? '## Alarms: call' : '## Alarms: look';
      const expected = names.filter((name) => alarmTexts[name].severity === severity);
      expect(subheadings(section(heading)).toSorted()).toEqual(expected.toSorted());
    },
  );

  it.each(names)('%s: meaning, where to look, what to do, whether twice is safe', (name) => {
    const article = section(`### ${name}`);
    const parts = [...article.matchAll(/^\*\*(.+?)\*\* (.+)$/gm)].map(([, part, text]) => [part, text]);
    expect(parts.map(([part]) => part)).toEqual([
      'Meaning.',
      'Look here.',
      'Do this.',
      'Safe to redrive twice?',
    ]);
    expect(parts[0]?.[1]).toBe(alarmTexts[name].meaning);
  });

  it('are where the alarms link to', () => {
    for (const name of names) expect(runbook).toContain(`\n### ${name}\n`);
    expect(names.map(runbookAnchor)).toEqual(names.map((name) => name.toLowerCase()));
  });
});

it('has one row for each dead-letter queue, with a destination that exists', () => {
  const queues = everyResource(prod, 'AWS::SQS::Queue');
  const names = queues.map(({ Properties }) => String(Properties.QueueName));
  const behindQueues = queues.map(
    ({ Properties }) => (Properties.RedrivePolicy as { deadLetterTargetArn?: string })?.deadLetterTargetArn,
  );
  const behindRules = everyResource(prod, 'AWS::Events::Rule').flatMap(({ Properties }) =>
    (Properties.Targets as { DeadLetterConfig?: { Arn: string } }[]).map(
      (target) => target.DeadLetterConfig?.Arn,
    ),
  );
  const deadLetterQueues = new Set([...behindQueues, ...behindRules].filter((name) => name !== undefined));

  const rows = [...section('## Dead-letter queues').matchAll(/^\| `([^`]+)` \|(.+)\|$/gm)];
  expect(rows.map(([, name]) => name).toSorted()).toEqual([...deadLetterQueues].toSorted());
  for (const [row] of rows) {
    const cells = row.split('|').slice(1, -1);
    expect(cells).toHaveLength(4);
    const destination = /`([^`]+-us-(?:east-1|west-2))`/.exec(cells[2] ?? '')?.[1];
    if (destination) expect(names).toContain(destination);
  }
});

it('prints every saved query with its question, as it is deployed', () => {
  const queries = section('## Queries');
  expect(subheadings(queries)).toEqual(Object.keys(savedQueries));
  for (const [name, { answers, text }] of Object.entries(savedQueries)) {
    const article = section(`### ${name}`);
    expect(article).toContain(answers);
    expect(blocks(article, '')).toEqual([text]);
  }
});

it('names only resources, events, metrics and alarms that exist', () => {
  const made = Object.values(prod).flatMap(({ Resources }) => Object.values(Resources));
  const physical = new Set(made.flatMap(({ Properties }) => Object.values(Properties ?? {})));
  const prose = runbook.replaceAll(/^```.*?^```$/gms, '');
  const code = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');

  const resources = code.filter((word) => /^[\w-]+-us-(east-1|west-2)$/.test(word));
  expect(resources.length).toBeGreaterThan(10);
  expect(resources.filter((name) => !physical.has(name) && !name.includes('-test-'))).toEqual([]);

  const events: string[] = Object.values(logEvents);
  const prefixes = new Set(events.map((event) => event.split('.')[0]));
  const dotted = code.filter((word) => /^[a-z]+\.[a-z_]+$/.test(word) && prefixes.has(word.split('.')[0]));
  expect(dotted.length).toBeGreaterThan(5);
  expect(dotted.filter((event) => !events.includes(event))).toEqual([]);

  const metrics = code.filter((word) => /^Mail[A-Z]\w+$/.test(word));
  expect(metrics.filter((name) => !(name in metricUnits))).toEqual([]);

  const parameters = code.flatMap((word) => /(\/(?:lead-tracking|callytics)\/[\w-]+)/.exec(word)?.[1] ?? []);
  const config = stages.find(({ name }) => name === 'prod');
  const configured = [...Object.values(config ?? {}), config?.ringCentral.parameterPrefix];
  expect(parameters.filter((name) => !configured.includes(name))).toEqual([]);
});

it('names only reasons and codes that the code gives', () => {
  const directory = path.join(import.meta.dirname, '../../src');
  const code = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(directory, file), 'utf8'))
    .join('\n');
  const prose = runbook.replaceAll(/^```.*?^```$/gms, '');
  const words = [...prose.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map((match) => match[1] ?? '');
  expect(words.length).toBeGreaterThan(30);
  // RingCentral's own.
  const others = ['invalid_grant'];
  expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(code) && !others.includes(word))).toEqual(
    [],
  );
});

it('links to headings and pages that are there', () => {
  const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...runbook.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? '');
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const [page = '', anchor] = link.split('#');
    if (page === '') expect(anchors).toContain(anchor);
    else expect(() => readFileSync(path.join(import.meta.dirname, '../../docs', page))).not.toThrow();
  }
});

describe('SQL', () => {
  const statements = blocks(runbook, 'sql');

  it('runs on the schema', async () => {
    const database = await freshDatabase();
    expect(statements.length).toBeGreaterThan(3);
    for (const statement of statements) await expect(database.query(statement)).resolves.toEqual([]);
  });

  it('finds the lead whose event led to nothing, and has it published again', async () => {
    const [find, publishAgain] = blocks(section('### LeadsWithoutTimeline'), 'sql');
    const database = await freshDatabase();
    const mail = (key: string, lead: string, age: string) =>
      database.query(
        `insert into lead_mails (mail_key, mailbox, uid_validity, uid, outcome, lead_id, parsed, received_at, published_at)
         values ($1, 'INBOX', 1, 1, 'lead', $2, '{}', now(), now() - $3::interval)`,
        [key, lead, age],
      );
    await mail('lost', 'lost-lead', '1 hour');
    await mail('young', 'young-lead', '5 minutes');
    await mail('done', 'done-lead', '1 hour');
    await database.query(
      `insert into contact_timeline (contact_phone, franchise_id, account_id, store_id, event_type, event_category,
         entity_type, entity_id, occurred_at, actor_type, idempotency_key)
       values ('+12125550147', 'f', 'a', gen_random_uuid(), 'lead.created', 'lead', 'lead', 'done-lead', now(),
         'lead_webhook', 'lead.created:done-lead')`,
    );
    const keys = async (sql: string) => (await database.query(sql)).map(({ mail_key }) => mail_key);
    expect(await keys(find ?? '')).toEqual(['lost']);
    await database.query(publishAgain ?? '');
    expect(await keys('select mail_key from lead_mails where published_at is null')).toEqual(['lost']);
  });
});
