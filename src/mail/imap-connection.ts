import { ImapFlow } from 'imapflow';
import { type FailureContext, type ImapStep, toMailboxError } from './imap-errors.ts';
import type { ImapSettings, MailboxErrorCode } from './mailbox.ts';

/** Time limits in milliseconds; the defaults fit a run of 240 s. */
export interface ImapOptions {
  /** DNS, TCP and TLS. */
  connectionTimeout?: number;
  greetingTimeout?: number;
  /** Silence of the server while a command runs. */
  socketTimeout?: number;
  /** One command as a whole, however busily the server sends. */
  commandTimeout?: number;
  /** For a server whose certificate no public authority signed. */
  tls?: { ca: string };
}

const defaults = {
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000,
  commandTimeout: 60_000,
};

const megabyte = 1024 * 1024;
/** imapflow's own limits are a gigabyte and more; these fit a Lambda of 256 MB. */
const responseLimits = {
  maxLiteralSize: 8 * megabyte,
  /** A SEARCH answer is one line: about 400,000 UIDs. */
  maxLineLength: 4 * megabyte,
  maxResponseSize: 16 * megabyte,
  maxResponseTokens: 200_000,
};

const closeTimeoutMs = 2_000;

/** One IMAP connection for one run: an imapflow client is single use. */
export interface ImapConnection {
  readonly client: ImapFlow;
  /** Runs one command under the time limit. Rejects with MailboxError only. */
  run<T>(step: ImapStep, command: (client: ImapFlow) => Promise<T>): Promise<T>;
  /** Says goodbye, for two seconds at most. Never rejects. */
  close(): Promise<void>;
}

export function createImapConnection(settings: ImapSettings, options: ImapOptions = {}): ImapConnection {
  const { tls, ...limits } = options;
  const times = { ...defaults, ...limits };
  let ended: MailboxErrorCode | undefined;
  let responseCode: string | undefined;

  const client = new ImapFlow({
    host: settings.host,
    port: settings.port,
    ...tlsPolicy(settings),
    ...(tls ? { tls } : {}),
    auth: { user: settings.user, pass: settings.pass, accessToken: settings.accessToken },
    connectionTimeout: times.connectionTimeout,
    greetingTimeout: times.greetingTimeout,
    socketTimeout: times.socketTimeout,
    ...responseLimits,
    disableAutoIdle: true,
    disableCompression: true,
    logger: throttleWatch(() => end('throttled')),
  });

  function end(reason: MailboxErrorCode): void {
    ended ??= reason;
    client.close();
  }

  // Without a listener a socket time-out is an uncaught exception.
  client.on('error', (error) => {
    ended ??= 'code' in error && error.code === 'ETIMEOUT' ? 'timeout' : 'connection_lost';
  });
  client.on('response', ({ code }) => {
    responseCode = code?.toUpperCase();
  });

  async function run<T>(step: ImapStep, command: (client: ImapFlow) => Promise<T>): Promise<T> {
    responseCode = undefined;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        end('timeout');
        reject(new Error('command timed out'));
      }, times.commandTimeout);
    });
    try {
      const answer = await Promise.race([command(client), tooLate]);
      // A falsy answer is a refusal, or a connection that died under the command.
      if (!answer && !client.usable) throw new Error('closed');
      return answer;
    } catch (error) {
      const context: FailureContext = { bye: client.byeReason !== undefined };
      if (ended) context.ended = ended;
      if (responseCode) context.responseCode = responseCode;
      throw toMailboxError(step, error, context);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    client,
    run,
    async close() {
      const patience = setTimeout(() => client.close(), closeTimeoutMs);
      await client.logout().catch(() => undefined);
      clearTimeout(patience);
      client.close();
    },
  };
}

/** Without TLS from the start, STARTTLS is a must: a password goes in clear text to this machine only. */
export function tlsPolicy({ host, secure }: Pick<ImapSettings, 'host' | 'secure'>) {
  return secure ? { secure } : { secure, doSTARTTLS: !isLoopback(host) };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * imapflow waits for the server's back-off hint, up to minutes, before it rejects. It tells its logger
 * first, so this logger, which logs nothing, is where a run can end at once.
 */
function throttleWatch(onThrottle: () => void) {
  const ignore = () => {};
  return {
    debug: ignore,
    info: ignore,
    error: ignore,
    fatal: ignore,
    isLevelEnabled: (level: string) => level === 'warn',
    warn: (entry: { err?: { code?: unknown } } | undefined) => {
      // Not within the call: the wait that a close ends has not begun yet.
      if (entry?.err?.code === 'ETHROTTLE') queueMicrotask(onThrottle);
    },
  };
}
