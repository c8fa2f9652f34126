import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../platform/errors.ts';
import {
  type SmokeContext,
  type SmokeState,
  type SmokeStep,
  smokeSteps,
  WrongTurnError,
} from './smoke-steps.ts';

export interface StepEnd {
  step: string;
  ok: boolean;
  detail: string;
}

export interface Following {
  read(): Promise<SmokeState>;
  context: SmokeContext;
  /** How long each step may take. */
  waitMs: number;
  pollMs: number;
  /** Told each step as it comes, and the one that does not. */
  tell(end: StepEnd): void;
}

/** Follows the mail step by step to its end, or to the first step that doesn't come. Never rejects. */
export async function followMail(following: Following): Promise<{ ok: boolean; state: SmokeState }> {
  let state: SmokeState = {};
  const read = async () => {
    state = await following.read();
    return state;
  };
  for (const step of smokeSteps) {
    const end = await awaitStep({ ...following, read }, step);
    following.tell(end);
    if (!end.ok) return { ok: false, state };
  }
  return { ok: true, state };
}

async function awaitStep(
  { read, context, waitMs, pollMs }: Following,
  { name, hint, check }: SmokeStep,
): Promise<StepEnd> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      const detail = await check(await read(), context);
      if (detail !== undefined) return { step: name, ok: true, detail };
    } catch (error) {
      const detail = error instanceof WrongTurnError ? error.message : errorCode(error);
      return { step: name, ok: false, detail };
    }
    if (performance.now() >= deadline) {
      return { step: name, ok: false, detail: `not there after ${waitMs / 1_000} s. ${hint}` };
    }
    await sleep(pollMs);
  }
}
