import { errorCode } from '../../platform/errors.ts';
import { logEvents } from '../../platform/log-events.ts';
import { announceParked, parkedItemKey } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import type { MadeList } from './list-parked.ts';
import { runPass } from './pass.ts';
import { pump } from './pump.ts';
import { Schedule, type Task } from './schedule.ts';
import { watchSubscription } from './watch-subscription.ts';

export interface AccountReport {
  gateClosed: boolean;
  /** Sessions that wait, before any was sent on. */
  parked: number;
  withoutWebhook: number;
  /** What could not be done, each a part and a code. */
  failures: string[];
}

export interface SweptAccount {
  accountId: string;
  /** One of the configured ones, whose subscription is ours to keep. */
  isListed: boolean;
}

/** With less time left a part doesn't begin: a request and what follows from it, or several of them. */
const shortestPartMs = 20_000;
const requestsMs = 45_000;
const fiveMinutesMs = 5 * 60_000;
/** The schedule's own jitter must not turn five minutes into six. */
const jitterMs = 30_000;

/**
 * One minute of one account: subscription, pass and transcription jobs when they are due, the pump when work is
 * parked. The database is opened for nothing else. A part that fails doesn't stop the others. Never rejects.
 */
export async function sweepAccount(
  deps: SweepDependencies,
  { accountId, isListed }: SweptAccount,
  deadline: Date,
): Promise<AccountReport> {
  const sweep = new AccountSweep(deps, { accountId, isListed }, deadline);
  await sweep.run();
  return sweep.report;
}

class AccountSweep {
  readonly report: AccountReport = { gateClosed: false, parked: 0, withoutWebhook: 0, failures: [] };
  readonly #deps: SweepDependencies;
  readonly #accountId: string;
  readonly #isListed: boolean;
  readonly #deadline: Date;
  /** What the pass has listed, for the pump. */
  #list: MadeList | undefined;

  constructor(deps: SweepDependencies, { accountId, isListed }: SweptAccount, deadline: Date) {
    this.#deps = deps;
    this.#accountId = accountId;
    this.#isListed = isListed;
    this.#deadline = deadline;
  }

  async run(): Promise<void> {
    await this.#attempt('state', async () => {
      const { state, gate, clock } = this.#deps;
      const schedule = await Schedule.read(state, this.#accountId);
      const isDue = (...tasks: Task[]) => tasks.some((task) => schedule.due(clock.now()).has(task));
      const { closedUntil } = await gate.status({ owner: this.#accountId, group: 'heavy' });
      this.report.gateClosed = closedUntil !== undefined;
      // First, since a subscription that was lost makes the full pass due.
      if (this.#isListed && isDue('subscription_at')) {
        await this.#attempt('subscription', () => this.#watch(schedule), requestsMs);
      }
      // Before the pump, which sends what it finds, and needs no list of its own then.
      if (isDue('full_pass_at', 'pass_at')) {
        await this.#attempt('pass', () => this.#pass(schedule), requestsMs);
      }
      await this.#attempt('pump', () => this.#pump(schedule));
      if (isDue('transcriptions_at')) {
        await this.#attempt('transcriptions', () => this.#transcriptions(schedule));
      }
    });
  }

  async #attempt(part: string, work: () => Promise<void>, needsMs = shortestPartMs): Promise<void> {
    if (this.#deadline.getTime() - this.#deps.clock.now().getTime() < needsMs) return;
    await work().catch((error: unknown) => this.#fail(part, errorCode(error)));
  }

  #fail(part: string, code: string): void {
    this.report.failures.push(`${this.#accountId}: ${part} ${code}`);
    this.#deps.log.error(logEvents.sweepFailed, { account_id: this.#accountId, part, error_code: code });
  }

  async #watch(schedule: Schedule): Promise<void> {
    const failure = await watchSubscription(this.#deps, this.#accountId, schedule);
    if (failure) this.#fail('subscription', failure);
  }

  async #pass(schedule: Schedule): Promise<void> {
    const { state, clock } = this.#deps;
    // Before anything is parked: a sign without work is taken down, work without a sign would lie there.
    await announceParked(state, this.#accountId, clock.now());
    const passed = await runPass(this.#deps, this.#accountId, schedule, this.#deadline);
    this.#list = passed.list;
    this.report.withoutWebhook = passed.withoutWebhook;
    if (passed.failed > 0) this.#fail('pass', 'sessions_failed');
    if (passed.failure?.kind === 'configuration') this.#fail('pass', passed.failure.reason);
  }

  async #pump(schedule: Schedule): Promise<void> {
    const sign = await this.#deps.state.get(parkedItemKey(this.#accountId));
    if (sign?.parked_at === undefined) return;
    const pumped = await pump(this.#deps, this.#accountId, schedule, this.#list, this.#deadline);
    this.report.parked = pumped.parked;
    if (pumped.failure?.kind === 'configuration') this.#fail('pump', pumped.failure.reason);
    if (pumped.failed > 0) this.#fail('pump', 'sessions_failed');
    if (pumped.left === 0) await this.#takeDownSign(sign.announcements);
  }

  async #transcriptions(schedule: Schedule): Promise<void> {
    await this.#deps.checkTranscriptions(this.#accountId, this.#deadline);
    const now = this.#deps.clock.now().getTime();
    await schedule.set({ transcriptions_at: now + fiveMinutesMs - jitterMs });
  }

  /** Unless somebody has parked more since it was read. */
  async #takeDownSign(announcements: unknown): Promise<void> {
    await this.#deps.state.update(parkedItemKey(this.#accountId), {
      update: 'REMOVE parked_at',
      condition: 'announcements = :announcements',
      values: { ':announcements': announcements },
    });
  }
}
