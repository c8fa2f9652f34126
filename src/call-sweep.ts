import type { Context } from 'aws-lambda';
import { buildCallService } from './calls/call-service.ts';
import { runSweep } from './calls/sweep/sweep.ts';
import { checkOpenTranscriptions } from './calls/transcription.ts';
import { readEnvironment } from './platform/environment.ts';
import { lazyService } from './platform/lazy-service.ts';
import { acquireLease } from './platform/lease.ts';
import { logEvents } from './platform/log-events.ts';

/** Kept back from the invocation's time for the metrics and the last log lines. */
const wrapUpMs = 5_000;
/** Jobs that are open for too long are few; the rest comes five minutes later. */
const transcriptionsAtOnce = 50;

const service = lazyService(async () => buildSweep());

/** EventBridge's schedule, each minute. Fails (and counts as a Lambda error) when it could not do all it had to. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  const sweep = await service();
  try {
    await sweep.tick(context);
  } finally {
    // Its alarm adds up two functions, and needs a value of each.
    sweep.meter.count('RingCentralLoginRefused', 0);
    sweep.meter.flush();
  }
}

/** What survives from one tick to the next: clients and caches. */
function buildSweep() {
  const env = readEnvironment('call-sweep');
  const accountIds = env.RINGCENTRAL_ACCOUNT_IDS.split(',')
    .map((id) => id.trim())
    .filter(Boolean);
  const calls = buildCallService(env);
  const { state, clock, log, meter } = calls;
  const deps = {
    ...calls,
    webhookUrl: env.WEBHOOK_URL,
    checkTranscriptions: (accountId: string, deadline: Date) =>
      checkOpenTranscriptions(calls, { accountId, limit: transcriptionsAtOnce }, deadline),
  };

  async function tick(context: Context): Promise<void> {
    const now = clock.now();
    const until = new Date(now.getTime() + context.getRemainingTimeInMillis());
    const lease = await acquireLease(state, 'lease#call-sweep', { owner: context.awsRequestId, until, now });
    if (!lease) return log.info(logEvents.sweepSkipped);
    try {
      await runSweep(deps, accountIds, new Date(until.getTime() - wrapUpMs));
    } finally {
      // It ends by itself; that it can't be given back fails nothing.
      await lease.release().catch(() => undefined);
    }
  }
  return { tick, meter };
}
