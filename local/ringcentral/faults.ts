import type { SimulatedSurface } from './surfaces.ts';

/** What goes wrong instead of the answer. */
export type Fault =
  | {
      kind: 'status';
      status: number;
      /** In `errors[0]`; the top-level code is textual, as RingCentral's often is. */
      errorCode?: string;
      permissionName?: string;
      headers?: Record<string, string>;
      /** Sent as it is (say a proxy's HTML page) instead of the error JSON. */
      body?: string;
      contentType?: string;
    }
  /** Never answers. */
  | { kind: 'hang' }
  /** Cuts the connection before any answer. */
  | { kind: 'reset' }
  /** Announces the whole body, sends half of it and cuts the connection. */
  | { kind: 'truncate' };

export interface FaultRule {
  surface: SimulatedSurface;
  fault: Fault;
  /** How many requests it hits; default 1. */
  times?: number;
  /** Only requests whose path and query contain this. */
  pathIncludes?: string;
}

/** Faults in the order in which they were added; each hits so many matching requests. */
export class Faults {
  readonly #rules: { rule: FaultRule; left: number }[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  clear(): void {
    this.#rules.length = 0;
  }

  /** The fault for this request, used up by one. */
  next(surface: SimulatedSurface, path: string): Fault | undefined {
    const hit = this.#rules.find(
      ({ rule, left }) => left > 0 && rule.surface === surface && path.includes(rule.pathIncludes ?? ''),
    );
    if (hit) hit.left -= 1;
    return hit?.rule.fault;
  }
}
