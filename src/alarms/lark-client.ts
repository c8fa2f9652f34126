import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { type Clock, systemClock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import type { LarkMessage } from './lark-message.ts';

/** For one attempt, its answer included. */
const attemptMs = 5_000;
/** Pauses between attempts, before jitter. Longer troubles are left to Lambda's own retries, minutes later. */
const pausesMs = [500, 1_000, 2_000, 4_000];

const hookUnknown = 19_001;
/**
 * Body codes that may be gone at the next attempt: internal error, too many requests (which Lark also calls a
 * bad request), frequency limited, gateway limit. A bot may send 5 messages a second and 100 a minute.
 */
const passingCodes = new Set([2_200, 9_499, 11_232, 99_991_400]);

const answerSchema = z.union([z.object({ code: z.int() }), z.object({ StatusCode: z.int() })]);

/** Why a message didn't arrive. */
interface Failure {
  /** `timeout`, an error code of the network, `http_500`, `lark_19024` or `unreadable_answer`. */
  code: string;
  mayPass: boolean;
  /** As the answer asks for. */
  pauseMs?: number | undefined;
}

/** A message didn't arrive. Holds a code only: the webhook's URL is a secret. */
export class LarkError extends Error {
  override name = 'LarkError';
  readonly code: string;
  constructor(code: string) {
    super(`not delivered to Lark: ${code}`);
    this.code = code;
  }
}

/** A group's custom bot. */
export interface LarkBot {
  /**
   * Delivers a message, with retries while a failure may pass. A message whose answer got lost may arrive twice.
   *
   * @param deadline no attempt goes on after this
   * @throws LarkError
   */
  send(message: LarkMessage, deadline: Date): Promise<void>;
}

interface LarkBotOptions {
  clock?: Clock;
  sleep?: (milliseconds: number) => Promise<unknown>;
  attemptLimitMs?: number;
}

/**
 * @param webhookUrl the bot's webhook, as the parameter has it
 * @throws LarkError `webhook_url_invalid`; plain http goes to this machine only
 */
export function createLarkBot(
  webhookUrl: string,
  { clock = systemClock, sleep = wait, attemptLimitMs = attemptMs }: LarkBotOptions = {},
): LarkBot {
  const url = parseWebhookUrl(webhookUrl);
  return {
    async send(message, deadline) {
      const body = JSON.stringify(message);
      const leftMs = () => deadline.getTime() - clock.now().getTime();
      for (let attempt = 0; ; attempt++) {
        const failure = await post(url, body, Math.min(attemptLimitMs, leftMs()));
        if (!failure) return;
        const plannedMs = pausesMs[attempt];
        if (!failure.mayPass || plannedMs === undefined) throw new LarkError(failure.code);
        const pauseMs = failure.pauseMs ?? plannedMs * (0.5 + Math.random());
        if (pauseMs >= leftMs()) throw new LarkError(failure.code);
        await sleep(pauseMs);
      }
    },
  };
}

/** Another URL may be in the parameter by now: the bot was replaced, or the URL corrected. */
export function isWebhookRefused(error: unknown): boolean {
  const refusals = [`lark_${hookUnknown}`, 'http_404', 'webhook_url_invalid'];
  return error instanceof LarkError && refusals.includes(error.code);
}

function parseWebhookUrl(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isLoopback = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost';
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url;
  throw new LarkError('webhook_url_invalid');
}

async function post(url: URL, body: string, limitMs: number): Promise<Failure | undefined> {
  const signal = AbortSignal.timeout(Math.max(limitMs, 0));
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
      signal,
      redirect: 'manual',
    });
    return readAnswer(response, await response.text());
  } catch (error) {
    return { code: signal.aborted ? 'timeout' : networkCode(error), mayPass: true };
  }
}

/** Lark answers a refusal with status 200 or 400 and a code in the body; only code 0 is a success. */
function readAnswer({ status, ok, headers }: Response, text: string): Failure | undefined {
  const larkCode = readCode(text);
  if (ok && larkCode === 0) return undefined;
  const httpCode = ok ? 'unreadable_answer' : `http_${status}`;
  return {
    code: larkCode ? `lark_${larkCode}` : httpCode,
    mayPass: status === 429 || status >= 500 || passingCodes.has(larkCode ?? 0),
    pauseMs: readPause(headers),
  };
}

/** `{code, msg, data}`, or `{StatusCode, StatusMessage}` in older answers; undefined for anything else. */
function readCode(text: string): number | undefined {
  try {
    const answer = answerSchema.safeParse(JSON.parse(text)).data;
    if (!answer) return undefined;
    return 'code' in answer ? answer.code : answer.StatusCode;
  } catch {
    return undefined;
  }
}

/** Seconds until the limit is over: the standard header, or the one of Lark's gateway. */
function readPause(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? headers.get('x-ogw-ratelimit-reset');
  return seconds && /^\d{1,6}(\.\d+)?$/.test(seconds.trim()) ? Number(seconds) * 1_000 : undefined;
}

/** fetch hides the network's own code one level down. */
function networkCode(error: unknown): string {
  return errorCode(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}
