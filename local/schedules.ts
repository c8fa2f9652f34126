import type { RulePlan } from './assembly/rules.ts';
import { type EventBuses, envelope } from './event-bus/bus.ts';

export interface Schedules {
  /** Lets every schedule tick once, now, but those that `skip` names. */
  tick(skip?: (rule: RulePlan) => boolean): void;
  /** Ticks at each rule's rate from now on. */
  start(): void;
  stop(): void;
}

/** The templates' scheduled rules. */
export function createSchedules(rules: readonly RulePlan[], buses: EventBuses): Schedules {
  const scheduled = rules.flatMap((rule) =>
    rule.enabled && rule.everySeconds !== undefined ? [{ rule, everyMs: rule.everySeconds * 1000 }] : [],
  );
  const timers: NodeJS.Timeout[] = [];
  const fire = (rule: RulePlan) => {
    const event = envelope(rule.region, 'aws.events', 'Scheduled Event', {});
    buses.fire(rule, { ...event, resources: [rule.arn] });
  };
  return {
    tick(skip = () => false) {
      for (const { rule } of scheduled) if (!skip(rule)) fire(rule);
    },
    start() {
      for (const { rule, everyMs } of scheduled) timers.push(setInterval(fire, everyMs, rule));
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
