import type { FakeClock } from '../support/fakes.ts';

interface Entry {
  at: number;
  order: number;
  run: () => Promise<void> | void;
  /** Goes on for ever, so that it says nothing of work that is left. */
  endless: boolean;
}

/** What happens when: a heap of moments, run one after the other, each with the clock set to its time. */
export class Timetable {
  readonly #clock: FakeClock;
  /** Latest first, so that the next one is at the end. */
  readonly #entries: Entry[] = [];
  #added = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** @param at epoch milliseconds; the past means now */
  add(at: number, run: Entry['run'], { endless = false } = {}): void {
    const entry = { at: Math.max(at, this.#clock.now().getTime()), order: ++this.#added, run, endless };
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#entries[middle];
      if (other && isLater(other, entry)) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, entry);
  }

  /** Whether anything but endless work is still to come. */
  get hasWork(): boolean {
    return this.#entries.some(({ endless }) => !endless);
  }

  /** When the next one is; infinite when there is none. */
  get nextAt(): number {
    return this.#entries.at(-1)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Runs the next entry, at its time. */
  async runNext(): Promise<void> {
    const next = this.#entries.pop();
    if (!next) return;
    this.#moveTo(next.at);
    await next.run();
  }

  /** Runs what comes up to an instant, or until `isOver` says so after an entry; the clock stands there then. */
  async run(until: number, isOver: () => Promise<boolean> | boolean = () => false): Promise<void> {
    while (this.nextAt <= until) {
      await this.runNext();
      if (await isOver()) return;
    }
    this.#moveTo(until);
  }

  #moveTo(instant: number): void {
    this.#clock.advance(Math.max(0, instant - this.#clock.now().getTime()));
  }
}

const isLater = (a: Entry, b: Entry) => a.at > b.at || (a.at === b.at && a.order > b.order);
