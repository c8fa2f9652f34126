import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { CallProcess } from './call-process.ts';

interface Waiting {
  /** Epoch milliseconds at which it began to wait. */
  since: number;
  go: () => void;
}

const dead = Symbol('dead');

/** A call that has its turn; while calls that it makes itself wait for theirs, it doesn't count as in work. */
class Turn {
  readonly #count: (change: 1 | -1) => void;
  #paused = 0;
  #ended = false;

  constructor(count: (change: 1 | -1) => void) {
    this.#count = count;
    count(1);
  }

  pause(): void {
    this.#paused += 1;
    if (this.#paused === 1 && !this.#ended) this.#count(-1);
  }

  resume(): void {
    this.#paused -= 1;
    if (this.#paused === 0 && !this.#ended) this.#count(1);
  }

  end(): void {
    if (this.#paused === 0) this.#count(-1);
    this.#ended = true;
  }
}

/**
 * Lets several processes run at once, one call to the outside at a time: each call waits for its turn, and whoever
 * holds the world together says whose is next. So every order of calls can be had, and had again. A call that makes
 * other calls gives its turn away meanwhile.
 */
export class Turns {
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  readonly #withinTurn = new AsyncLocalStorage<Turn>();
  #inWork = 0;
  #changes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The same port, each of whose calls waits for its turn, unless its process dies. */
  wrap<T extends object>(port: T, process: CallProcess): T {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => this.take(process, () => Reflect.apply(member, target, args));
      },
    });
  }

  async take<T>({ death }: CallProcess, call: () => T | Promise<T>): Promise<T> {
    const outer = this.#withinTurn.getStore();
    outer?.pause();
    await new Promise<void>((go) => {
      this.#waiting.push({ since: this.#now(), go });
      this.#changes += 1;
    });
    const own = new Turn((change) => {
      this.#inWork += change;
      this.#changes += 1;
    });
    const done = Promise.resolve(this.#withinTurn.run(own, call));
    try {
      const outcome = await Promise.race([done, death.then((): typeof dead => dead)]);
      if (outcome !== dead) return outcome;
    } finally {
      own.end();
      outer?.resume();
    }
    return new Promise(() => {});
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Since when the one that has waited longest does. */
  get longestSince(): number {
    return Math.min(...this.#waiting.map(({ since }) => since));
  }

  release(index: number): void {
    const [chosen] = this.#waiting.splice(index, 1);
    this.#changes += 1;
    chosen?.go();
  }

  /** Resolves when every process has come to its next call, or to its end. */
  async settled(): Promise<void> {
    for (let quiet = 0, seen = this.#changes; quiet < 4; ) {
      await nextTick();
      const still = this.#inWork === 0 && seen === this.#changes;
      quiet = still ? quiet + 1 : 0;
      seen = this.#changes;
    }
  }
}
