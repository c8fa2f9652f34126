export type RateLimitGroup = 'light' | 'medium' | 'heavy' | 'auth';

/** A group's rule: at most `limit` requests in any `windowSeconds`; after one too many, `penaltySeconds` of 429. */
export interface RateLimit {
  limit: number;
  windowSeconds: number;
  penaltySeconds: number;
}

/** RingCentral's defaults per user, application and 60 seconds. */
const defaultRateLimits: Record<RateLimitGroup, RateLimit> = {
  light: { limit: 50, windowSeconds: 60, penaltySeconds: 60 },
  medium: { limit: 40, windowSeconds: 60, penaltySeconds: 60 },
  heavy: { limit: 10, windowSeconds: 60, penaltySeconds: 60 },
  auth: { limit: 5, windowSeconds: 60, penaltySeconds: 60 },
};

export interface Admission {
  allowed: boolean;
  /** The request came while a penalty was running, and so restarted it. */
  insidePenalty: boolean;
  remaining: number;
  rule: RateLimit;
}

interface Usage {
  admitted: number[];
  penaltyUntil: number;
}

/** RingCentral's sliding window: every request of a group inside its penalty starts the penalty anew. */
export class SlidingWindowLimiter {
  readonly #rules: Record<RateLimitGroup, RateLimit>;
  readonly #usages = new Map<string, Usage>();

  constructor(rules: Partial<Record<RateLimitGroup, Partial<RateLimit>>> = {}) {
    this.#rules = {
      light: { ...defaultRateLimits.light, ...rules.light },
      medium: { ...defaultRateLimits.medium, ...rules.medium },
      heavy: { ...defaultRateLimits.heavy, ...rules.heavy },
      auth: { ...defaultRateLimits.auth, ...rules.auth },
    };
  }

  /** A customised limit, from now on. */
  setRule(group: RateLimitGroup, rule: Partial<RateLimit>): void {
    this.#rules[group] = { ...this.#rules[group], ...rule };
  }

  /** Starts a penalty out of turn, as RingCentral's protection policies do. */
  penalise(owner: string, group: RateLimitGroup, now: number): void {
    this.#usage(owner, group).penaltyUntil = now + this.#rules[group].penaltySeconds * 1000;
  }

  /** @param now epoch milliseconds */
  admit(owner: string, group: RateLimitGroup, now: number): Admission {
    const rule = this.#rules[group];
    const usage = this.#usage(owner, group);
    usage.admitted = usage.admitted.filter((at) => at > now - rule.windowSeconds * 1000);
    const insidePenalty = now < usage.penaltyUntil;
    const allowed = !insidePenalty && usage.admitted.length < rule.limit;
    if (allowed) usage.admitted.push(now);
    else usage.penaltyUntil = now + rule.penaltySeconds * 1000;
    return { allowed, insidePenalty, remaining: Math.max(0, rule.limit - usage.admitted.length), rule };
  }

  #usage(owner: string, group: RateLimitGroup): Usage {
    const key = `${owner} ${group}`;
    const usage = this.#usages.get(key) ?? { admitted: [], penaltyUntil: 0 };
    this.#usages.set(key, usage);
    return usage;
  }
}
