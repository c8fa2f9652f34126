import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOptions, UsageError } from '../../local/options.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'callytics-options-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const store = {
  storeId: '3f6f1f0a-5a0e-4c58-9a0b-6f6f0d3c1a01',
  leadEmail: 'riverside@leads.example',
  franchise: 'orangeTheory-0412',
  providerAccountId: '400131426008',
};

describe('the command line', () => {
  it('without anything: the sample stores, stage prod, staying up', () => {
    const options = parseOptions([]);
    expect(options).toMatchObject({ stage: 'prod', files: [], once: false, json: false });
    expect(options).not.toHaveProperty('imap');
    expect(options !== 'help' && options.stores.map(({ franchise }) => franchise)).toEqual([
      'orangeTheory-0412',
      'orangeTheory-0777',
      'britishSwim-12',
    ]);
  });

  it('takes files, stores, stage, once and json', () => {
    const mail = file('a.eml', 'Subject: x\n\nx');
    const stores = file('stores.json', JSON.stringify([{ ...store, more: 'kept' }]));
    expect(parseOptions([mail, '--stores', stores, '--stage', 'test', '--once', '--json'])).toEqual({
      stage: 'test',
      files: [mail],
      callFiles: [],
      stores: [{ ...store, more: 'kept' }],
      once: true,
      json: true,
    });
  });

  it('mails and webhooks by the ending of their files, in any order', () => {
    const event = { event: '/restapi/v1.0/account/400131426008/extension/1/presence', body: {} };
    const [webhooks, mail] = [file('w.json', JSON.stringify([event])), file('c.eml', 'x')];
    expect(parseOptions([webhooks, mail])).toMatchObject({
      files: [mail],
      callFiles: [{ file: webhooks, notifications: [{ accountId: '400131426008', body: event }] }],
    });
  });

  it.each([
    ['imaps://ana%40x.example@imap.example', 'ana@x.example', 993, true, 'INBOX'],
    ['imaps://ana@imap.example:1993/Web%20Leads', 'ana', 1993, true, 'Web Leads'],
    ['imaps://ana@x.example@imap.example', 'ana@x.example', 993, true, 'INBOX'],
    ['imap://ana@imap.example', 'ana', 143, false, 'INBOX'],
  ])('--imap %s', (url, user, port, secure, mailbox) => {
    expect(parseOptions(['--imap', url])).toMatchObject({
      imap: { host: 'imap.example', user, port, secure, folder: mailbox },
    });
  });

  it('--help wins', () => {
    expect(parseOptions(['--help'])).toBe('help');
  });

  it.each<[string, () => string[], RegExp]>([
    ['an unknown option', () => ['--fast'], /--fast/],
    ['an option without its value', () => ['--stores'], /--stores/],
    ['a mail that is not there', () => ['nowhere.eml'], /nowhere\.eml: there is no such file/],
    ['webhooks that are not there', () => ['nowhere.json'], /nowhere\.json: there is no such file/],
    ['webhooks that are no JSON', () => [file('broken.json', '[{')], /broken\.json: .*JSON/],
    ['webhooks without an event', () => [file('a.json', '{"body":{}}')], /a\.json: as a whole: /],
    ['a folder', () => [folder], /is not a file/],
    ['--json alone', () => ['--json'], /--json needs --once/],
    ['an unknown stage', () => ['--stage', 'dev'], /--stage dev: there are test and prod only/],
    [
      'files and a mailbox',
      () => [file('b.eml', 'x'), '--imap', 'imaps://a@b.example'],
      /either mails or --imap/,
    ],
    ['a mailbox without user', () => ['--imap', 'imaps://imap.example'], /imaps:\/\/user@host is expected/],
    ['another protocol', () => ['--imap', 'https://a@imap.example'], /imaps:\/\/user@host is expected/],
    ['stores that are not there', () => ['--stores', 'nowhere.json'], /nowhere\.json: there is no such file/],
    ['stores that are no JSON', () => ['--stores', file('bad.json', '[{')], /bad\.json: .*JSON/],
    ['stores that are no array', () => ['--stores', file('object.json', '{}')], /an array of StoresV2 items/],
    [
      'a store without its mail address',
      () => ['--stores', file('field.json', JSON.stringify([store, { ...store, leadEmail: undefined }]))],
      /field\.json: item 1, leadEmail/,
    ],
    [
      'a store id twice',
      () => ['--stores', file('twice.json', JSON.stringify([store, store]))],
      /item 1 has the storeId of another one/,
    ],
  ])('refuses %s', (_, argv, message) => {
    expect(() => parseOptions(argv())).toThrow(UsageError);
    expect(() => parseOptions(argv())).toThrow(message);
  });

  it('a password in the URL is refused and never repeated', () => {
    const parse = (url: string) => () => parseOptions(['--imap', url]);
    expect(parse('imaps://ana:hunter2@imap.example')).toThrow(/IMAP_PASSWORD/);
    for (const url of ['imaps://ana:hunter2@imap.example', 'ftp://ana:hunter2@imap.example']) {
      expect(parse(url)).not.toThrow(/hunter2/);
    }
  });
});
