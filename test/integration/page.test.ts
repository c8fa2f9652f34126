import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createJournal, type Journal } from '../../local/journal.ts';
import { launch } from '../../local/launch.ts';
import { readCalls } from '../../local/options.ts';
import { type PageServer, startPageServer } from '../../local/page-server.ts';
import { type Run, startRun } from '../../local/run.ts';
import { settle } from '../../local/settle.ts';
import { riversideStore } from '../support/leads.ts';

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));
if (!executablePath) {
  console.warn(
    'SKIPPED: the page in a browser, chromium is not installed (Debian: apt-get install chromium)',
  );
}

const quietly = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];
const deadLetterQueue = 'lead-processor-dlq-test-us-west-2';
const redriveButton = `Redrive ${deadLetterQueue}`;
const riverside = {
  ...riversideStore,
  providerAccountId: '400131426008',
  timeZone: 'America/New_York',
  phoneNumbers: ['+12125550100'],
};
const harbor = {
  storeId: '8b1d2c7e-0f4b-4f0e-8f56-2f9d7c3a5b02',
  leadEmail: 'harbor@leads.example',
  franchise: 'orangeTheory-0777',
  providerAccountId: '900777',
  timeZone: 'America/Los_Angeles',
};
const webLead = (to: string, first: string, phone: string) => `From: web@forms.example
To: ${to}
Message-ID: <${first}@forms.example>
Subject: Web Lead - ${first} Lopez

First Name: ${first}
Last Name: Lopez
Phone: ${phone}
Email: ${first.toLowerCase()}@x.example
`;
const sampleCalls = (name: string) => readCalls(`local/samples/calls/${name}.json`);
const noLead = 'From: a@x.example\nTo: harbor@leads.example\nSubject: hi\n\nhello';

describe.skipIf(!executablePath)('the page of the local run in Chromium', () => {
  let folder: string;
  let journal: Journal;
  let run: Run;
  let server: PageServer;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let requests: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'callytics-page-'));
    journal = createJournal();
    const launched = launch('test');
    const browsing = chromium.launch({ ...(executablePath ? { executablePath } : {}), args: quietly });
    // Whoever awaits it later learns of a failure.
    browsing.catch(() => undefined);
    // Five minutes of a delay are a second.
    run = await startRun(launched, [riverside, harbor], journal, { delayScale: 1 / 300 });
    server = await startPageServer('test', run, journal, 200);
    await run.play([sampleCalls('answered-with-recording')]);
    run.feed([
      mailFile('ana.eml', webLead(riverside.leadEmail, 'Ana', '(212) 555-0147'), '2026-11-03T14:15:00Z'),
      mailFile('cy.eml', webLead(harbor.leadEmail, 'Cy', '(415) 555-0199'), '2026-11-03T15:00:00Z'),
      mailFile('junk.eml', noLead, '2026-11-03T16:00:00Z'),
    ]);
    await settle(run.stage, run.work, journal);
    // Now that somebody has logged in to RingCentral: whoever comes while they do waits for half a minute.
    await run.play([sampleCalls('missed-not-in-call-log')]);
    await settle(run.stage, run.work, journal);
    browser = await browsing;
    page = await browser.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    page.setDefaultTimeout(15_000);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await run?.close();
    rmSync(folder, { recursive: true });
  });

  beforeEach(async () => {
    complaints = [];
    requests = [];
    await page.goto(server.url);
  });
  afterEach(() => {
    expect(complaints).toEqual([]);
    const elsewhere = (url: string) => !url.startsWith(`${server.url}/`) && !url.startsWith('data:');
    expect(requests.filter(elsewhere)).toEqual([]);
  });

  function mailFile(name: string, source: string, arrival: string): string {
    const file = join(folder, name);
    writeFileSync(file, source.replaceAll('\n', '\r\n'));
    utimesSync(file, new Date(arrival), new Date(arrival));
    return file;
  }

  /** The cells of a table's body, found by its caption. */
  async function rowsOf(title: string): Promise<string[][]> {
    const rows = page.getByRole('table', { name: new RegExp(`^${title}: \\d+ rows?$`) }).locator('tbody tr');
    return rows.evaluateAll((found) =>
      found.map((row) => [...row.querySelectorAll('td')].map((cell) => (cell.textContent ?? '').trim())),
    );
  }

  async function depthOf(queue: string): Promise<string[] | undefined> {
    return (await rowsOf('Queues')).find(([name]) => name === queue)?.slice(1, 4);
  }

  it('has language, title and one heading a table', async () => {
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.title()).toBe('callytics: stage test on this machine');
    expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual([
      'Stage test on this machine',
    ]);
    const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(headings).toEqual(
      expect.arrayContaining([
        ...['Leads', 'Contacts', 'Tasks', 'Timeline', 'Calls', 'Transcripts', 'Queues', 'Log'],
      ]),
    );
    for (const heading of headings) {
      expect(await page.getByRole('region', { name: heading, exact: true }).count()).toBe(1);
    }
    expect(await page.locator('th:not([scope=col])').count()).toBe(0);
  });

  it('shows what became of the mails, table by table', async () => {
    expect((await rowsOf('Mails')).map(([, outcome, reason]) => [outcome, reason])).toEqual([
      ['lead', ''],
      ['lead', ''],
      ['quarantined', 'unparsed'],
    ]);
    expect(await rowsOf('Leads')).toEqual([
      ['orangeTheory-0412', 'Web Lead', 'Ana Lopez', '+12125550147', 'ana@x.example', '', 'parsed'],
      ['orangeTheory-0777', 'Web Lead', 'Cy Lopez', '+14155550199', 'cy@x.example', '', 'parsed'],
    ]);
    expect((await rowsOf('Contacts')).map((row) => row.slice(0, 3)).sort()).toEqual([
      ['orangeTheory-0412', '+12125550147', 'Ana Lopez'],
      ['orangeTheory-0777', '+14155550199', 'Cy Lopez'],
    ]);
    const told = (await rowsOf('Timeline')).map(([, phone, event]) => [phone, event]);
    expect(told.filter(([, event]) => event === 'lead.created').sort()).toEqual([
      ['+12125550147', 'lead.created'],
      ['+14155550199', 'lead.created'],
    ]);
    expect((await rowsOf('Queues')).map(([name, ...depth]) => [name, ...depth.slice(0, 3)])).toEqual(
      run.stage.queues.plans.map(({ name }) => [name, '0', '0', '0']),
    );
  });

  it('shows the calls: how far each is, what was recorded, and what was said', async () => {
    expect(
      (await rowsOf('Calls')).map(([store, phone, , started, ...rest]) => [store, phone, started, ...rest]),
    ).toEqual([
      [
        'orangeTheory-0412',
        '+12125550147',
        'Tue 2026-11-03 09:15 EST',
        'disconnected',
        'Accepted',
        'stored',
        'none',
        '',
      ],
      [
        'orangeTheory-0412',
        '+12125550148',
        'Tue 2026-11-03 11:00 EST',
        'disconnected',
        '',
        'pending',
        'none',
        '',
      ],
    ]);
    const [transcript] = await rowsOf('Transcripts');
    expect(transcript?.slice(0, 4)).toEqual(['recording', '55002010', '+12125550147', 'channel']);
    expect(transcript?.[4]).toContain('[PII]');
    expect((await rowsOf('Timeline')).map(([, , event]) => event)).toContain('call.transcribed');
  });

  it('a task is due in its store’s zone, and the zone is named', async () => {
    const { tasks } = await run.snapshot();
    const shown = new Map((await rowsOf('Tasks')).map(([, phone, due = '']) => [phone, due]));
    expect(shown.get('+12125550147')).toMatch(/^\w{3} \d{4}-\d\d-\d\d \d\d:\d\d E[SD]T$/);
    expect(shown.get('+14155550199')).toMatch(/^\w{3} \d{4}-\d\d-\d\d \d\d:\d\d P[SD]T$/);
    expect(tasks).toHaveLength(2);
    for (const { contactPhone, dueAt } of tasks) {
      const minute = Math.floor(dueAt.getTime() / 60_000) * 60_000;
      expect(Date.parse(shown.get(contactPhone) ?? '')).toBe(minute);
    }
  });

  it('the log gets new lines without a reload, as text', async () => {
    const log = page.getByRole('log', { name: 'Log' });
    expect(await log.textContent()).toContain('"message":"mail.processed"');
    await page.evaluate('globalThis.sameDocument = true');
    // The stream may not be open yet when the page has loaded.
    await expect
      .poll(async () => {
        journal.log('Visitor', '<b>just now</b>');
        return log.textContent();
      })
      .toContain('Visitor <b>just now</b>');
    expect(await page.evaluate('globalThis.sameDocument')).toBe(true);
  });

  it('a dead letter is seen without a reload, and its button sends it back to be processed', async () => {
    const { queues, buses } = run.stage;
    const event = buses.records[0]?.event;
    const deadLetters = queues.plans.find(({ name }) => name === deadLetterQueue);
    const detail = { ...(event?.detail as object), id: 'dee@x.example#+12125550188#2026-11-03' };
    const body = { ...event, detail: { ...detail, firstName: 'Dee', phone: '+12125550188' } };
    expect(await depthOf(deadLetterQueue)).toEqual(['0', '0', '0']);
    await queues.send(deadLetters?.arn ?? '', JSON.stringify(body));
    await expect.poll(() => depthOf(deadLetterQueue), { timeout: 20_000 }).toEqual(['1', '0', '0']);
    expect(await rowsOf('Errors')).toEqual([['dead_letter', deadLetterQueue, '1 waiting']]);

    await page.getByRole('button', { name: redriveButton, exact: true }).click();
    const status = page.getByRole('status');
    expect(await status.textContent()).toBe(`1 moved from ${deadLetterQueue} to its source queue.`);
    expect(await depthOf(deadLetterQueue)).toEqual(['0', '0', '0']);
    await expect
      .poll(async () => (await rowsOf('Contacts')).map(([, phone]) => phone), { timeout: 30_000 })
      .toContain('+12125550188');

    await page.reload();
    expect([page.url(), await status.count()]).toEqual([`${server.url}/`, 0]);
  });

  it('everything is reached and pressed with the keyboard, and new tables keep the focus', async () => {
    const focused = () =>
      page
        .locator(':focus')
        .evaluateAll(
          ([element]) =>
            element?.getAttribute('aria-label') ?? element?.getAttribute('aria-labelledby') ?? null,
        );
    const reached: unknown[] = [];
    for (let last: unknown; last !== null && reached.length < 30; reached.push(last)) {
      await page.keyboard.press('Tab');
      last = await focused();
    }
    expect(reached).toEqual(
      expect.arrayContaining([
        ...['leads', 'contacts', 'tasks', 'timeline', 'calls', 'transcripts', 'queues'],
        ...[redriveButton, 'Redrive transcribe-dlq-test-us-west-2', 'log'],
      ]),
    );

    const button = page.getByRole('button', { name: redriveButton, exact: true });
    await button.focus();
    await button.evaluate((element) => element.closest('table')?.setAttribute('data-old', ''));
    await expect.poll(() => page.locator('[data-old]').count(), { timeout: 20_000 }).toBe(0);
    expect(await focused()).toBe(redriveButton);
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.getByRole('status').textContent()).toContain(`0 moved from ${deadLetterQueue}`);
  });

  it('fits a telephone: the page does not scroll sideways, wide tables do, words stay whole', async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
    const tasks = page.getByRole('region', { name: 'Tasks' });
    expect(await tasks.evaluate((section) => section.scrollWidth > section.clientWidth)).toBe(true);
    const header = tasks.getByRole('columnheader', { name: 'priority' });
    expect((await header.boundingBox())?.height).toBeLessThan(50);
  });

  it.each(['light', 'dark'] as const)('follows a %s colour scheme', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const ink = await page.evaluate('getComputedStyle(document.body).color');
    expect(ink).toBe(colorScheme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(0, 0, 0)');
  });
});
