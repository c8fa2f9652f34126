import { afterEach, describe, expect, it } from 'vitest';
import { type LocalMailbox, startMailbox } from '../../local/imap.ts';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';

let box: LocalMailbox | undefined;
afterEach(() => box?.close());

async function open(local: LocalMailbox) {
  return openImapMailbox({ ...local.settings, mailboxes: [local.folder] }, local.folder);
}

describe('the local mailbox, read by the product', () => {
  it('keeps UID, INTERNALDATE and every byte, and sees what was marked', async () => {
    box = await startMailbox();
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const source = Buffer.concat([Buffer.from('Subject: Größe\n\n'), everyByte]);
    const receivedAt = new Date('2026-07-01T03:04:05Z');
    const uid = box.append(source, receivedAt);
    const other = box.append(Buffer.from('Subject: other\r\n\r\nx'), receivedAt);

    const mailbox = await open(box);
    expect(mailbox.uidValidity).toBe(box.uidValidity);
    expect(await mailbox.unseen()).toEqual([uid, other]);
    const mail = await mailbox.fetch(uid);
    expect(mail?.source.equals(source)).toBe(true);
    expect(mail?.receivedAt).toEqual(receivedAt);
    expect(await mailbox.markSeen(uid)).toBe(true);
    await mailbox.close();
    expect(box.unseen()).toEqual([other]);
  });

  it.each([
    ['a group without a name', 'Cc: :staff:;\r\nSubject: x\r\n\r\nbody'],
    ['an address without end', 'From: Ana <ana@x.example\r\n\r\nbody'],
    ['no header at all', '\r\n\r\nbody'],
    ['nothing', ''],
    ['a multipart that never ends', 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nbody'],
    ['names of the prototype', '__proto__: x\r\nConstructor: y\r\n\r\nbody'],
  ])('hands out a mail with %s', async (_, source) => {
    box = await startMailbox();
    const uid = box.append(Buffer.from(source), new Date());
    const mailbox = await open(box);
    expect((await mailbox.envelopes([uid])).has(uid)).toBe(true);
    expect((await mailbox.fetch(uid))?.source.toString()).toBe(source);
    await mailbox.close();
  });
});
