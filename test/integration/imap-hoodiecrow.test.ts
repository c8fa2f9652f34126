import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';
import { type Hoodiecrow, startHoodiecrow } from '../support/hoodiecrow.ts';

let server: Hoodiecrow;
beforeAll(async () => {
  server = await startHoodiecrow();
});
afterAll(() => server.stop());

const receivedAt = new Date('2026-11-03T14:15:00.000Z');

describe('the adapter against hoodiecrow', () => {
  it('reads bytes as they are, UTF-8 and latin1, and flags what it read', async () => {
    const raw = Buffer.concat([
      Buffer.from('From: web@forms.example\nTo: leads@test.example\nSubject: Lead\n\nFirst Name: José / '),
      Buffer.from('José', 'latin1'),
    ]);
    const uid = server.deliver(raw, receivedAt);
    const mailbox = await openImapMailbox(server.settings, 'INBOX');
    expect(mailbox).toMatchObject({ name: 'INBOX', uidValidity: 7, uidNext: uid + 1 });
    expect(await mailbox.unseen()).toEqual([uid]);
    expect(await mailbox.fetch(uid)).toMatchObject({
      uid,
      receivedAt,
      size: raw.length,
      seen: false,
      subject: 'Lead',
      from: 'web@forms.example',
      to: ['leads@test.example'],
      source: raw,
      reduced: false,
    });
    expect(server.flags(uid)).not.toContain('\\Seen');
    expect(await mailbox.markSeen(uid)).toBe(true);
    expect(server.flags(uid)).toContain('\\Seen');
    await mailbox.close();
  });

  it('gives the headers that name recipients, and no others', async () => {
    const uid = server.deliver(
      Buffer.from(
        'Delivered-To: a@leads.example\r\nFrom: web@forms.example\r\nTo: b@leads.example,\r\n c@leads.example\r\n\r\nbody',
      ),
      receivedAt,
    );
    const mailbox = await openImapMailbox(server.settings, 'INBOX');
    const headers = String(await mailbox.recipientHeaders(uid));
    expect(headers).toContain('Delivered-To: a@leads.example');
    expect(headers).toContain('c@leads.example');
    expect(headers).not.toMatch(/From:|body/);
    expect(await mailbox.recipientHeaders(99)).toBeUndefined();
    expect(server.flags(uid)).not.toContain('\\Seen');
    await mailbox.close();
  });

  it('refuses a wrong password', async () => {
    await expect(openImapMailbox({ ...server.settings, pass: 'wrong' }, 'INBOX')).rejects.toMatchObject({
      code: 'login_refused',
    });
  });

  it('reports a folder that is not there', async () => {
    await expect(openImapMailbox(server.settings, 'Nowhere')).rejects.toMatchObject({
      code: 'mailbox_unavailable',
    });
  });
});
