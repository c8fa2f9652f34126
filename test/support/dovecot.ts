import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ImapSettings } from '../../src/mail/mailbox.ts';

const binary = ['/usr/sbin/dovecot', '/usr/local/sbin/dovecot', '/opt/homebrew/sbin/dovecot'].find((path) =>
  existsSync(path),
);

/** Why the Dovecot tests can't run here; `undefined` when they can. Printed once, so that a skip is seen. */
export const dovecotMissing = whyMissing();
if (dovecotMissing) console.warn(`SKIPPED: Dovecot tests, ${dovecotMissing}`);

function whyMissing(): string | undefined {
  if (!binary) return 'dovecot is not installed (Debian: apt-get install dovecot-imapd)';
  const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout;
  return version.startsWith('2.3.')
    ? undefined
    : `the configuration here is for Dovecot 2.3, not ${version.trim()}`;
}

/** One user's mail: nobody else's test sees it. */
export interface DovecotUser {
  settings: ImapSettings;
  /** Puts a mail into the folder, UNSEEN, with this INTERNALDATE. Seen at the next SELECT. */
  deliver(raw: string | Buffer, receivedAt?: Date, folder?: string): Promise<void>;
  /** Forgets all UIDs: the next SELECT shows a new UIDVALIDITY and new numbers. */
  resetUidValidity(folder?: string): Promise<void>;
}

export interface Dovecot {
  /** PEM of the self-signed certificate that STARTTLS offers; with `tls: true` only. */
  certificate: string | undefined;
  /** A user with the empty folders INBOX and Leads; password `secret`. */
  newUser(): Promise<DovecotUser>;
  stop(): Promise<void>;
}

/** A Dovecot 2.3 of its own in a temporary folder, as root or as any user; ready within half a second. */
export async function startDovecot({ tls = false } = {}): Promise<Dovecot> {
  if (!binary || dovecotMissing) throw new Error(dovecotMissing);
  const folder = await mkdtemp(join(tmpdir(), 'dovecot-'));
  const port = await freePort();
  // imap-login refuses to run as root; the mail belongs to nobody then.
  const root = userInfo().uid === 0;
  const owner = root ? { uid: 65_534, gid: 65_534 } : { uid: userInfo().uid, gid: userInfo().gid };
  for (const name of ['run', 'state', 'mail']) await mkdir(join(folder, name));
  if (tls) makeCertificate(folder);
  await writeFile(join(folder, 'dovecot.conf'), configuration(folder, port, root, owner, tls));
  // Dovecot's own users must reach the sockets below.
  await chmod(folder, 0o755);
  // It stays in the background: with pipes, this call would wait for its end.
  execFileSync(binary, ['-c', join(folder, 'dovecot.conf')], { stdio: 'ignore' });

  let users = 0;
  return {
    certificate: tls ? await readFile(join(folder, 'cert.pem'), 'utf8') : undefined,
    async newUser() {
      const user = `leads${++users}@test.example`;
      const home = join(folder, 'mail', user);
      for (const path of [home, ...maildirs(home, 'INBOX'), ...maildirs(home, 'Leads')]) {
        await mkdir(path, { recursive: true });
        await chown(path, owner.uid, owner.gid);
      }
      const settings = { host: '127.0.0.1', port, secure: false, user, pass: 'secret', mailboxes: ['INBOX'] };
      return userAt(home, settings, owner);
    },
    async stop() {
      const pid = Number(await readFile(join(folder, 'run', 'master.pid'), 'utf8'));
      process.kill(pid);
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function userAt(home: string, settings: ImapSettings, owner: { uid: number; gid: number }): DovecotUser {
  let delivered = 0;
  return {
    settings,
    async deliver(raw, receivedAt = new Date(), folder = 'INBOX') {
      const path = join(maildir(home, folder), 'new', `${++delivered}.${process.pid}.test`);
      await writeFile(path, raw);
      await chown(path, owner.uid, owner.gid);
      await utimes(path, receivedAt, receivedAt);
    },
    async resetUidValidity(folder = 'INBOX') {
      const path = maildir(home, folder);
      const lists = (await readdir(path)).filter((file) => /^dovecot[-.](uidlist|index)/.test(file));
      await Promise.all(lists.map((file) => rm(join(path, file))));
    },
  };
}

function maildir(home: string, folder: string): string {
  return folder === 'INBOX' ? home : join(home, `.${folder}`);
}

function maildirs(home: string, folder: string): string[] {
  const path = maildir(home, folder);
  return [path, ...['cur', 'new', 'tmp'].map((name) => join(path, name))];
}

function makeCertificate(folder: string): void {
  const openssl = 'openssl';
  execFileSync(
    openssl,
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:0.0.0.0'],
      ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')],
    ],
    { stdio: 'ignore' },
  );
}

function configuration(
  folder: string,
  port: number,
  root: boolean,
  owner: { uid: number; gid: number },
  tls: boolean,
): string {
  const user = userInfo().username;
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = ${tls ? 'yes' : 'no'}
${tls ? `ssl_cert = <${folder}/cert.pem\nssl_key = <${folder}/key.pem` : ''}
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
default_internal_user = ${root ? 'dovecot' : user}
default_internal_group = ${root ? 'dovecot' : group}
default_login_user = ${root ? 'dovenull' : user}
mail_location = maildir:${folder}/mail/%u
first_valid_uid = ${owner.uid}
last_valid_uid = ${owner.uid}
first_valid_gid = ${owner.gid}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${owner.uid} gid=${owner.gid} home=${folder}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
}
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
  # No seconds of penalty after a wrong password.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
