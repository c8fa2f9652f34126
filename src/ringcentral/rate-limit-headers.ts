/** What an answer says of its rate limit. A header that is missing or no integer stays undefined: never guessed. */
export interface RateLimitHeaders {
  group?: string;
  limit?: number;
  remaining?: number;
  windowSeconds?: number;
}

const dayS = 86_400;
/** As the source document has it: without a readable Retry-After, one minute. */
const defaultRetryAfterSeconds = 60;

export function readRateLimit(headers: Headers): RateLimitHeaders {
  const group = headers.get('x-rate-limit-group')?.trim().toLowerCase();
  const limit = readInteger(headers.get('x-rate-limit-limit'));
  const remaining = readInteger(headers.get('x-rate-limit-remaining'));
  const windowSeconds = readInteger(headers.get('x-rate-limit-window'));
  return {
    ...(group ? { group } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(windowSeconds === undefined ? {} : { windowSeconds }),
  };
}

/** Seconds to wait after a 429. Absent, unreadable (RingCentral sends integers) or over a day: 60. */
export function readRetryAfter(headers: Headers): number {
  const seconds = readInteger(headers.get('retry-after'));
  return seconds === undefined || seconds > dayS ? defaultRetryAfterSeconds : seconds;
}

function readInteger(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}
