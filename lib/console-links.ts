import { Stack } from 'aws-cdk-lib';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';

/** Deep links into the AWS console, for alarms. They hold names only, so they work for whoever may sign in. */

function consoleUrl(scope: IConstruct, service: string, page: string): string {
  const { region } = Stack.of(scope);
  return `https://${region}.console.aws.amazon.com/${service}/home?region=${region}#${page}`;
}

/** @param queueName the queue's literal name */
export function queueLink(scope: IConstruct, queueName: string): string {
  const { region, account } = Stack.of(scope);
  const url = `${encodeURIComponent(`https://sqs.${region}.amazonaws.com/`)}${account}%2F${queueName}`;
  return consoleUrl(scope, 'sqs/v3', `/queues/${url}`);
}

/** @param functionName the function's literal name */
export function functionLink(scope: IConstruct, functionName: string): string {
  return consoleUrl(scope, 'lambda', `/functions/${functionName}?tab=monitoring`);
}

export function logsLink(scope: IConstruct, logGroupName: string): string {
  return consoleUrl(scope, 'cloudwatch', `logsV2:log-groups/log-group/${logGroupName}`);
}

export function topicLink(topic: ITopic): string {
  return consoleUrl(topic, 'sns/v3', `/topic/${topic.topicArn}`);
}
