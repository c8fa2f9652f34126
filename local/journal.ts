/** What counts as a failure of the run. Any of them makes `--once` end with exit code 1. */
export type RunErrorKind =
  | 'handler_error'
  | 'access_denied'
  | 'unknown_operation'
  | 'undelivered_event'
  | 'dead_letter'
  | 'mapping_failed'
  | 'mail_unsettled'
  | 'call_unsettled'
  | 'webhook_refused'
  | 'time_limit';

export interface RunError {
  kind: RunErrorKind;
  /** Function, rule or queue. */
  where: string;
  message: string;
}

export interface LogLine {
  at: Date;
  functionName: string;
  line: string;
}

/** What a role was let do at the AWS endpoint. */
export interface AllowedCall {
  /** ARN. */
  role: string;
  /** `sqs:SendMessage`. */
  action: string;
  /** ARN, or `*` where the action has none. */
  resource: string;
  /** Condition keys of the call, as `transcribe:OutputBucketName`. */
  context: Record<string, string[]>;
}

/** Everything that the run has seen happen: log lines, failures, calls, how busy it is. */
export interface Journal {
  readonly errors: readonly RunError[];
  /** Each combination once, however often it was called. */
  readonly allowedCalls: Iterable<AllowedCall>;
  /** The latest lines, oldest first. */
  readonly lines: readonly LogLine[];
  fail(kind: RunErrorKind, where: string, message: string): void;
  allow(call: AllowedCall): void;
  log(functionName: string, line: string): void;
  /** Called for each line from now on; the answer unsubscribes. */
  onLine(listener: (line: LogLine) => void): () => void;
  /** Counts the work as unfinished until it settles; a rejection is recorded as a failure of `where`. */
  track(kind: RunErrorKind, where: string, work: Promise<unknown>): void;
  /** Pieces of tracked work that have not settled. */
  readonly pending: number;
}

const keptLines = 2_000;

export function createJournal(): Journal {
  const errors: RunError[] = [];
  const allowedCalls = new Map<string, AllowedCall>();
  const lines: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  let pending = 0;
  return {
    errors,
    lines,
    get allowedCalls() {
      return allowedCalls.values();
    },
    get pending() {
      return pending;
    },
    fail(kind, where, message) {
      errors.push({ kind, where, message });
    },
    allow(call) {
      allowedCalls.set(`${call.role} ${call.action} ${call.resource}`, call);
    },
    log(functionName, line) {
      const entry = { at: new Date(), functionName, line };
      lines.push(entry);
      if (lines.length > keptLines) lines.shift();
      for (const listener of listeners) listener(entry);
    },
    onLine(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    track(kind, where, work) {
      pending++;
      work
        .catch((error: unknown) =>
          errors.push({ kind, where, message: error instanceof Error ? error.message : String(error) }),
        )
        .finally(() => pending--);
    },
  };
}
