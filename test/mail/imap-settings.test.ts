import { describe, expect, it } from 'vitest';
import { tlsPolicy } from '../../src/mail/imap-connection.ts';
import { parseImapSettings } from '../../src/mail/imap-settings.ts';

const good = { host: 'imap.example', port: 993, secure: true, user: 'leads@gym.example', pass: 'hunter2' };
const parse = (value: unknown) => parseImapSettings(JSON.stringify(value));

describe('the IMAP parameter', () => {
  it('reads INBOX when no mailbox is named', () => {
    expect(parse(good)).toEqual({ ...good, mailboxes: ['INBOX'] });
  });

  it('takes an access token instead of a password, several mailboxes, and read-only', () => {
    const { pass: _, ...rest } = good;
    const settings = { ...rest, accessToken: 'ya29', mailboxes: ['INBOX', 'Leads'], readOnly: true };
    expect(parse(settings)).toEqual(settings);
  });

  it.each([
    ['host', { ...good, host: '' }],
    ['port', { ...good, port: '993' }],
    ['port', { ...good, port: 70_000 }],
    ['secure', { ...good, secure: 'yes' }],
    ['user', { ...good, user: undefined }],
    ['pass', { ...good, pass: undefined }],
    ['mailboxes', { ...good, mailboxes: [] }],
    ['mailboxes.0', { ...good, mailboxes: [7] }],
  ])('names the field that is wrong: %s', (field, settings) => {
    expect(() => parse(settings)).toThrow(`IMAP parameter: ${field}: `);
  });

  it('never shows a value, least of all the password', () => {
    const broken = `${JSON.stringify(good).slice(0, -2)}`;
    for (const json of [broken, JSON.stringify({ ...good, port: 'hunter2' }), '"hunter2"']) {
      expect(() => parseImapSettings(json)).toThrow(/^IMAP parameter: (?!.*hunter2)/);
    }
  });
});

describe('TLS', () => {
  it.each(['imap.example', '10.0.0.7', '0.0.0.0', 'localhost.example'])('is a must for %s', (host) => {
    expect(tlsPolicy({ host, secure: false })).toEqual({ secure: false, doSTARTTLS: true });
    expect(tlsPolicy({ host, secure: true })).toEqual({ secure: true });
  });

  it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('is left out only for this machine: %s', (host) => {
    expect(tlsPolicy({ host, secure: false })).toEqual({ secure: false, doSTARTTLS: false });
  });
});
