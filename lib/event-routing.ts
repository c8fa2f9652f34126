import { Stack, Stage } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';
import { emittedEvents, type SampleEvent } from './events.ts';

interface RoutingRule {
  readonly path: string;
  readonly stage: string;
  readonly region: string;
  readonly pattern: unknown;
  /** Regions whose bus is a target. */
  readonly forwardsTo: readonly string[];
}

/**
 * Follows each event that the stages emit through all rules, buses in other regions included: nobody may get
 * it twice, and it must not go round in circles.
 *
 * @returns what is wrong, one sentence a fault
 */
export function routingFaults(app: IConstruct): string[] {
  const rules = app.node.findAll().filter(CfnRule.isCfnRule).map(describeRule).filter(hasPattern);
  const stages = app.node.children.filter(Stage.isStage).map(({ stageName }) => stageName);
  return stages.flatMap((stage) =>
    emittedEvents(stage).flatMap(({ region, event }) => follow(rules, event, region, [])),
  );
}

function follow(
  rules: readonly RoutingRule[],
  event: SampleEvent,
  region: string,
  visited: readonly string[],
): string[] {
  const name = `${event['detail-type']} ${JSON.stringify(event.detail)}`;
  if (visited.includes(region)) return [`${name} comes back to ${region}`];
  const hits = rules.filter((rule) => rule.region === region && matches(rule.pattern, event));
  const twice = hits.filter((rule) => hits.some((other) => other !== rule && other.stage === rule.stage));
  const faults =
    twice.length > 0
      ? [`${name} matches several rules of one stage: ${twice.map(({ path }) => path).join(', ')}`]
      : [];
  const onward = hits.flatMap(({ forwardsTo }) => forwardsTo);
  const arrivals = new Set(onward);
  if (arrivals.size < onward.length) faults.push(`${name} is forwarded more than once from ${region}`);
  return [...faults, ...[...arrivals].flatMap((next) => follow(rules, event, next, [...visited, region]))];
}

function describeRule(rule: CfnRule): RoutingRule {
  const stack = Stack.of(rule);
  const targets = JSON.stringify(stack.resolve(rule.targets) ?? []);
  return {
    path: rule.node.path,
    stage: Stage.of(rule)?.stageName ?? '',
    region: stack.region,
    pattern: stack.resolve(rule.eventPattern),
    forwardsTo: [...targets.matchAll(/arn:aws:events:([a-z0-9-]+):/g)].map((match) => match[1] ?? ''),
  };
}

/** Schedules have none. */
function hasPattern({ pattern }: RoutingRule): boolean {
  return pattern !== undefined;
}

/** EventBridge's matching, as far as our rules use it: nested fields, lists of values, `prefix`. */
function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((choice) => matchesValue(choice, value));
  return Object.entries(Object(pattern)).every(([field, inner]) => matches(inner, Object(value)[field]));
}

function matchesValue(choice: unknown, value: unknown): boolean {
  if (typeof choice !== 'object' || choice === null) return choice === value;
  if ('prefix' in choice) return typeof value === 'string' && value.startsWith(String(choice.prefix));
  throw new Error(`the routing check doesn't know the pattern ${JSON.stringify(choice)}`);
}
