import type { ParkedRow } from './parked-rows.ts';
import type { Schedule } from './schedule.ts';

const minuteMs = 60_000;
/** By then somebody may have given the permission. */
const forbiddenForMs = 15 * minuteMs;
/** The sessions of a list that broke off are asked for within minutes; those that come later begin later. */
const aloneForMs = 60 * minuteMs;

/** A stretch of time in which sessions began, without its end. */
export interface Stretch {
  from: Date;
  before: Date;
}

/** Whether the account's call log was forbidden to us a moment ago. */
export const isForbidden = (schedule: Schedule, now: Date): boolean =>
  now.getTime() < (schedule.at('forbidden_until') ?? 0);

export const forbiddenSince = (now: Date) => ({ forbidden_until: now.getTime() + forbiddenForMs });

/**
 * Whether a list has broken off before it came to this session. The next list would do so too, where more calls are
 * between the session's start and its end than a list gets pages for.
 */
export function isOutOfReach(
  schedule: Schedule,
  now: Date,
  { startedAt }: Pick<ParkedRow, 'startedAt'>,
): boolean {
  if (now.getTime() >= (schedule.at('alone_until') ?? 0)) return false;
  const at = startedAt.getTime();
  return at >= (schedule.at('alone_from') ?? 0) && at < (schedule.at('alone_before') ?? 0);
}

export const outOfReach = ({ from, before }: Stretch, now: Date) => ({
  alone_from: from.getTime(),
  alone_before: before.getTime(),
  alone_until: now.getTime() + aloneForMs,
});
