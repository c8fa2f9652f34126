import { type AccessRequest, decide } from '../assembly/iam.ts';
import type { RolePlan } from '../assembly/roles.ts';
import type { PermissionPlan } from '../assembly/rules.ts';
import type { MessageAttribute, Queues } from '../services/sqs.ts';
import { type DeadLetter, type DeliverToTarget, DeliveryError, type EventBuses } from './bus.ts';

const eventBridge = 'Service:events.amazonaws.com';

/** A queue takes an event when its policy lets EventBridge send for that rule. */
export function queueTarget(queues: Queues): DeliverToTarget {
  return async ({ rule, target, payload }) => {
    await sendForRule(queues, target.arn, rule.arn, payload);
  };
}

/** The target's dead-letter queue: the same body, and the attributes that EventBridge adds. */
export function deadLetterQueue(queues: Queues): DeadLetter {
  return async ({ rule, target, payload }, queueArn, error) => {
    const attribute = (value: string): MessageAttribute => ({ DataType: 'String', StringValue: value });
    await sendForRule(queues, queueArn, rule.arn, payload, {
      RULE_ARN: attribute(rule.arn),
      TARGET_ARN: attribute(target.arn),
      ERROR_CODE: attribute(error.code),
      ERROR_MESSAGE: attribute(error.message),
    });
  };
}

async function sendForRule(
  queues: Queues,
  queueArn: string,
  ruleArn: string,
  body: string,
  attributes?: Record<string, MessageAttribute>,
): Promise<void> {
  const queue = queues.find(queueArn);
  if (!queue) throw new DeliveryError('NO_RESOURCE', `the queue ${queueArn} does not exist`);
  const request = requestFor(ruleArn, 'sqs:SendMessage', queueArn);
  if (decide(request, { resource: queue.policy }) !== 'allowed') {
    throw new DeliveryError('NO_PERMISSIONS', `the policy of ${queue.name} doesn't let ${ruleArn} send`);
  }
  await queues.send(queueArn, body, attributes);
}

/** Another bus takes an event when the rule's role may put events there. */
export function busTarget(roles: ReadonlyMap<string, RolePlan>, buses: () => EventBuses): DeliverToTarget {
  return async ({ rule, target, record }) => {
    const role = target.roleArn ? roles.get(target.roleArn) : undefined;
    if (!role) throw new DeliveryError('NO_PERMISSIONS', `${rule.name} has no role for ${target.arn}`);
    if (!role.trusted.includes('events.amazonaws.com')) {
      throw new DeliveryError('NO_PERMISSIONS', `EventBridge may not assume ${role.arn}`);
    }
    const request = {
      action: 'events:PutEvents',
      resource: target.arn,
      principal: `AWS:${role.arn}`,
      context: {
        'events:source': [record.event.source],
        'events:detail-type': [record.event['detail-type']],
      },
    };
    if (decide(request, { identity: role.statements }) !== 'allowed') {
      throw new DeliveryError('NO_PERMISSIONS', `${role.arn} may not events:PutEvents on ${target.arn}`);
    }
    const [, , , region = '', , bus = ''] = target.arn.split(':');
    const busName = bus.replace(/^event-bus\//, '');
    if (!buses().has(region, busName)) {
      throw new DeliveryError('NO_RESOURCE', `the bus ${target.arn} does not exist`);
    }
    await buses().forward(region, busName, record);
  };
}

/** A function is invoked asynchronously when its resource policy lets EventBridge do so for that rule. */
export function functionTarget(
  permissions: readonly PermissionPlan[],
  invoke: (functionArn: string, payload: string) => void,
): DeliverToTarget {
  return async ({ rule, target, payload }) => {
    const permitted = permissions.some(
      ({ functionName, principal, sourceArn }) =>
        functionName === target.arn.split(':').at(-1) &&
        principal === 'events.amazonaws.com' &&
        (sourceArn === undefined || sourceArn === rule.arn),
    );
    if (!permitted) throw new DeliveryError('NO_PERMISSIONS', `${rule.name} may not invoke ${target.arn}`);
    invoke(target.arn, payload);
  };
}

function requestFor(ruleArn: string, action: string, resource: string): AccessRequest {
  return {
    action,
    resource,
    principal: eventBridge,
    context: {
      'aws:SourceArn': [ruleArn],
      'aws:SourceAccount': [ruleArn.split(':')[4] ?? ''],
      'aws:SecureTransport': ['true'],
    },
  };
}
