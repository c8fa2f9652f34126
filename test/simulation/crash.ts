/** Where a process dies: at its n-th call to the outside, before the effect or right after it. */
export interface CrashPoint {
  call: number;
  when: 'before' | 'after';
}

/**
 * A process that dies at one of its calls to the outside. Dead means that nothing after it happens: every
 * call that is made from then on neither has an effect nor returns.
 */
export class MortalProcess {
  calls = 0;
  dead = false;
  readonly #point: CrashPoint | undefined;
  #died: () => void = () => {};
  readonly death = new Promise<'died'>((resolve) => {
    this.#died = () => resolve('died');
  });

  constructor(point?: CrashPoint) {
    this.#point = point;
  }

  /** The same port, each of whose methods counts as a call to the outside. */
  wrap<T extends object>(port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => this.#call(() => Reflect.apply(member, target, args));
      },
    });
  }

  /** The outcome of `work`, or `died`. */
  run<T>(work: () => Promise<T>): Promise<T | 'died'> {
    return Promise.race([work(), this.death]);
  }

  async #call(effect: () => unknown): Promise<unknown> {
    const forever = new Promise<never>(() => {});
    if (this.dead) return forever;
    this.calls += 1;
    const here = this.calls === this.#point?.call;
    if (here && this.#point?.when === 'before') return this.#die(forever);
    const result = await effect();
    // Another branch may have died while this one waited.
    if (here) return this.#die(forever);
    return this.dead ? forever : result;
  }

  #die(forever: Promise<never>): Promise<never> {
    this.dead = true;
    this.#died();
    return forever;
  }
}
