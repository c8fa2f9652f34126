/** The time, as a port: every rule that depends on "now" takes a clock, so that tests can move it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
