import { MortalProcess } from './crash.ts';

/** A mortal process that remembers what it called: `names[n - 1]` is its n-th call to the outside. */
export class CallProcess extends MortalProcess {
  readonly names: string[] = [];

  override wrap<T extends object>(port: T): T {
    return super.wrap(
      new Proxy(port, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]) => {
            this.names.push(String(key));
            return Reflect.apply(member, target, args);
          };
        },
      }),
    );
  }
}
