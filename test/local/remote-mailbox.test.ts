import { afterEach, describe, expect, it } from 'vitest';
import { type LocalMailbox, startMailbox } from '../../local/imap.ts';
import { createRemoteReader } from '../../local/remote-mailbox.ts';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';

const boxes: LocalMailbox[] = [];
afterEach(async () => {
  await Promise.all(boxes.splice(0).map((box) => box.close()));
});

async function mailbox(): Promise<LocalMailbox> {
  const box = await startMailbox();
  boxes.push(box);
  return box;
}

const dayMs = 24 * 60 * 60_000;
const mail = (subject: string) => Buffer.from(`Subject: ${subject}\r\n\r\nbody`);
/** INTERNALDATE has whole seconds. */
const now = Math.floor(Date.now() / 1000) * 1000;
const ago = (days: number) => new Date(now - days * dayMs);

/** Another box in the part of the real mailbox. */
async function remote() {
  const box = await mailbox();
  const { pass, ...server } = box.settings;
  return { box, password: pass, address: { ...server, folder: box.folder } };
}

describe('a real mailbox, copied', () => {
  it('unseen and recent mail comes over with its arrival time; nothing changes there', async () => {
    const real = await remote();
    const local = await mailbox();
    real.box.append(mail('old and unseen'), ago(9));
    real.box.append(mail('new'), ago(1));
    const read = await openImapMailbox({ ...real.box.settings, mailboxes: ['INBOX'] }, 'INBOX');
    for (const days of [9, 1]) await read.markSeen(real.box.append(mail(`seen ${days}`), ago(days)));
    await read.close();
    const before = real.box.unseen();

    const copy = createRemoteReader(real.address, real.password, local);
    const { mails, leftOut } = await copy();
    expect(mails.map(({ source }) => String(source).split('\r\n')[0])).toEqual([
      'Subject: old and unseen',
      'Subject: new',
      'Subject: seen 1',
    ]);
    expect(leftOut).toBe(0);
    expect(real.box.unseen()).toEqual(before);

    const opened = await openImapMailbox({ ...local.settings, mailboxes: ['INBOX'] }, 'INBOX');
    const envelopes = await opened.envelopes(mails.map(({ uid }) => uid));
    await opened.close();
    expect([...envelopes.values()].map(({ receivedAt }) => receivedAt)).toEqual([ago(9), ago(1), ago(1)]);
  });

  it('a second look brings only what has come since', async () => {
    const real = await remote();
    const copy = createRemoteReader(real.address, real.password, await mailbox());
    real.box.append(mail('first'), ago(0));
    expect((await copy()).mails.length).toBe(1);
    real.box.append(mail('second'), ago(0));
    expect((await copy()).mails.map(({ source }) => String(source))).toEqual([String(mail('second'))]);
  });

  it('takes the newest 200 of a full mailbox', async () => {
    const real = await remote();
    for (let index = 0; index < 203; index++) real.box.append(mail(`n${index}`), ago(0));
    const { mails, leftOut } = await createRemoteReader(real.address, real.password, await mailbox())();
    expect([mails.length, leftOut]).toEqual([200, 3]);
    expect(String(mails[0]?.source)).toBe(String(mail('n3')));
  });
});
