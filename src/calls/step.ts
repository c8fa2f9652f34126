import type { CallRecordingRow, CallRow, nextSteps, VoicemailRow } from '../db/schema/index.ts';
import type { Failure } from '../ringcentral/errors.ts';

export type NextStep = (typeof nextSteps)[number];

/** A session as it is stored. */
export interface StoredSession {
  call: CallRow;
  recordings: CallRecordingRow[];
  voicemails: VoicemailRow[];
}

/** How a step of a session's work ended. The worst of several decides what becomes of the message. */
export type StepResult =
  /** Nothing more to do now: what is missing is pending in the rows, and the sweep looks again. */
  | { kind: 'done' }
  /** No slot (or no login): the row waits, the message goes. */
  | { kind: 'park'; step: NextStep; waitSeconds: number; group?: string }
  /** 429: a clone of the message waits, or the message goes to the dead-letter queue. */
  | { kind: 'redrive'; step: NextStep; retryAfterSeconds: number; group: string }
  /** Worth another receive; `afterSeconds` from now where the step knows better than the queue. */
  | { kind: 'retry'; reason: string; afterSeconds?: number }
  /** Another try can't help, a person has to act: three receives, then the dead-letter queue. */
  | { kind: 'failed'; reason: string };

const badness: Record<StepResult['kind'], number> = { done: 0, park: 1, retry: 2, failed: 3, redrive: 4 };

/** The result that decides: a redrive before all, since the gate is closed and its clone does the rest. */
export function worstOf(results: readonly StepResult[]): StepResult {
  return results.reduce((worst, result) => (badness[result.kind] > badness[worst.kind] ? result : worst), {
    kind: 'done',
  });
}

/**
 * Works on each item in turn. One that fails doesn't hold up the others; without a slot, or after a 429, none of
 * them gets further. What was thrown first is thrown at the end.
 */
export async function inTurn<T>(
  items: readonly T[],
  work: (item: T) => Promise<StepResult>,
): Promise<StepResult> {
  const results: StepResult[] = [];
  const thrown: unknown[] = [];
  for (const item of items) {
    try {
      const result = await work(item);
      results.push(result);
      if (result.kind === 'park' || result.kind === 'redrive') break;
    } catch (error) {
      thrown.push(error);
    }
  }
  if (thrown.length > 0) throw thrown[0];
  return worstOf(results);
}

/** What becomes of the work whose request failed. `not_found` and `forbidden` mean something else to each step. */
export function resultOfFailure(
  failure: Exclude<Failure, { kind: 'not_found' | 'forbidden' }>,
  step: NextStep,
): StepResult {
  switch (failure.kind) {
    case 'no_slot':
      return { kind: 'park', step, waitSeconds: failure.waitSeconds, group: failure.group };
    case 'login_refused':
      return { kind: 'park', step, waitSeconds: failure.waitSeconds, group: 'auth' };
    case 'rate_limited':
      return { kind: 'redrive', step, retryAfterSeconds: failure.retryAfterSeconds, group: failure.group };
    case 'retry':
      return { kind: 'retry', reason: failure.reason };
    case 'configuration':
      return { kind: 'failed', reason: failure.reason };
  }
}
