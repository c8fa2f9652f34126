import { randomUUID } from 'node:crypto';
import type { RulePlan, TargetPlan } from '../assembly/rules.ts';
import { type Json, localAccount } from '../assembly/template.ts';
import type { Journal } from '../journal.ts';

/** An event as rules and targets see it. */
export interface EventEnvelope {
  version: '0';
  id: string;
  'detail-type': string;
  source: string;
  account: string;
  /** ISO, whole seconds. */
  time: string;
  region: string;
  resources: string[];
  detail: Json;
}

/** One attempt to hand an event to a rule's target. */
export interface Delivery {
  rule: string;
  region: string;
  target: string;
  outcome: 'delivered' | 'dead_lettered' | 'failed';
  problem?: string;
}

/** An event that was put, and all that became of it, in both regions. */
export interface EventRecord {
  event: EventEnvelope;
  deliveries: Delivery[];
}

/** The target could not take the event. `code` as EventBridge writes it into the dead-letter queue. */
export class DeliveryError extends Error {
  override name = 'DeliveryError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface TargetDelivery {
  rule: RulePlan;
  target: TargetPlan;
  event: EventEnvelope;
  /** What the target gets: the event, or the target's constant input. */
  payload: string;
  record: EventRecord;
}

/** Hands events to one kind of target. Rejects with DeliveryError. */
export type DeliverToTarget = (delivery: TargetDelivery) => Promise<void>;

/** Sends what could not be delivered to the target's dead-letter queue. */
export type DeadLetter = (delivery: TargetDelivery, queueArn: string, error: DeliveryError) => Promise<void>;

export interface EventBuses {
  readonly records: readonly EventRecord[];
  has(region: string, busName: string): boolean;
  /** Takes the event at once and delivers it afterwards, as EventBridge does. */
  put(region: string, busName: string, event: EventEnvelope): void;
  /** An event that a rule's target brings from another bus. */
  forward(region: string, busName: string, record: EventRecord): Promise<void>;
  /** Hands the event to the targets of one rule: a schedule's tick. */
  fire(rule: RulePlan, event: EventEnvelope): void;
}

/** Events are not handed on for ever: a ring of buses would be. */
const maximumDeliveries = 20;

/**
 * EventBridge's buses with the templates' rules. A delivery that fails is not repeated: what fails here is a
 * missing permission, which EventBridge doesn't repeat either, but dead-letters at once.
 *
 * @param targets by the service in the target's ARN, as `sqs`
 */
export function createEventBuses(
  rules: readonly RulePlan[],
  targets: Record<string, DeliverToTarget>,
  deadLetter: DeadLetter,
  journal: Journal,
): EventBuses {
  const records: EventRecord[] = [];
  const regions = new Set(rules.map(({ region }) => region));

  async function dispatch(region: string, busName: string, record: EventRecord): Promise<void> {
    const matching = rules.filter(
      (rule) =>
        rule.enabled &&
        rule.region === region &&
        rule.busName === busName &&
        rule.targets.length > 0 &&
        rule.pattern?.matches(record.event as unknown as Json),
    );
    if (matching.length === 0) {
      const { source, 'detail-type': detailType } = record.event;
      journal.fail('undelivered_event', `${region}/${busName}`, `no rule matches ${source} ${detailType}`);
    }
    await Promise.all(matching.map((rule) => deliver(rule, record)));
  }

  async function deliver(rule: RulePlan, record: EventRecord): Promise<void> {
    for (const target of rule.targets) {
      if (record.deliveries.length >= maximumDeliveries) {
        journal.fail('undelivered_event', rule.name, 'the event goes round in a ring');
        return;
      }
      const payload = target.input ?? JSON.stringify(record.event);
      const delivery: Delivery = {
        rule: rule.name,
        region: rule.region,
        target: target.arn,
        outcome: 'delivered',
      };
      // Written down before what it leads to in the other region.
      record.deliveries.push(delivery);
      Object.assign(delivery, await attempt({ rule, target, event: record.event, payload, record }));
      if (delivery.problem) journal.fail('undelivered_event', rule.name, delivery.problem);
    }
  }

  async function attempt(delivery: TargetDelivery): Promise<Pick<Delivery, 'outcome' | 'problem'>> {
    const { target } = delivery;
    try {
      await deliverTo(delivery);
      return { outcome: 'delivered' };
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      if (!target.deadLetterArn) return { outcome: 'failed', problem: error.message };
      try {
        await deadLetter(delivery, target.deadLetterArn, error);
        return { outcome: 'dead_lettered', problem: error.message };
      } catch (second) {
        if (!(second instanceof DeliveryError)) throw second;
        return { outcome: 'failed', problem: `${error.message}; ${second.message}` };
      }
    }
  }

  function deliverTo(delivery: TargetDelivery): Promise<void> {
    const service = delivery.target.arn.split(':')[2] ?? '';
    const deliverToService = targets[service];
    if (!deliverToService) {
      throw new DeliveryError('UNKNOWN_TARGET', `unknown target ${delivery.target.arn}`);
    }
    return deliverToService(delivery);
  }

  return {
    records,
    has: (region, busName) => regions.has(region) && busName === 'default',
    put(region, busName, event) {
      const record: EventRecord = { event, deliveries: [] };
      records.push(record);
      journal.track('undelivered_event', `${region}/${busName}`, dispatch(region, busName, record));
    },
    forward: dispatch,
    fire(rule, event) {
      journal.track('undelivered_event', rule.name, deliver(rule, { event, deliveries: [] }));
    },
  };
}

/** The envelope that EventBridge puts around an event. */
export function envelope(region: string, source: string, detailType: string, detail: Json): EventEnvelope {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': detailType,
    source,
    account: localAccount,
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region,
    resources: [],
    detail,
  };
}
