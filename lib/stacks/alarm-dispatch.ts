import { Duration } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SnsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Subscription, SubscriptionProtocol } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { topicLink } from '../console-links.ts';
import * as binding from '../constructs/bindings.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { StageStack } from '../constructs/stage-stack.ts';

const period = Duration.minutes(5);

/** Alarm topics of both regions -> cards in Lark. What doesn't get there goes out by e-mail. */
export class AlarmDispatch extends Construct {
  readonly function: NodeFunction<'alarm-dispatcher'>;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { config, alarms } = StageStack.of(this);
    this.function = new NodeFunction(this, 'Dispatcher', {
      name: 'alarm-dispatcher',
      physicalName: 'AlarmDispatcherFunction',
      description: 'Shows alarms of both regions as cards in Lark',
      timeout: Duration.seconds(40),
      memorySize: 256,
      // An alarm that is hours late misleads; the e-mail with it then says so.
      asynchronous: {
        retryAttempts: 2,
        maxEventAge: Duration.hours(1),
        onFailure: new SnsDestination(alarms.pathTopic),
      },
      environment: { LARK_WEBHOOK_PARAMETER: binding.readsParameter(this, config.larkWebhookParameter) },
    });

    const { lambda, links } = this.function;
    const errors = lambda.metricErrors({ period });
    alarms.add('AlarmDispatcherErrors', { metric: errors, atLeast: 1, periods: 2, outOf: 3, links });
    alarms.add('AlarmPathFailing', { subject: 'dispatcher', metric: errors, atLeast: 1, links });
    alarms.add('AlarmPathFailing', {
      subject: 'email',
      metric: lambda.metric('DestinationDeliveryFailures', { period, statistic: 'Sum' }),
      atLeast: 1,
      links,
    });
  }

  /**
   * Subscribes the dispatcher to a stack's alarm topics. SNS calls a function in another region too
   * (https://docs.aws.amazon.com/sns/latest/dg/sns-cross-region-delivery.html), but the subscription has to be
   * made in the topic's region, so it belongs to the topic's stack, which is deployed after this one.
   */
  receiveFrom({ alarms, region }: StageStack): void {
    const { lambda } = this.function;
    for (const [severity, topic] of Object.entries(alarms.topics)) {
      lambda.addPermission(`Alarms-${severity}-${region}`, {
        principal: new ServicePrincipal('sns.amazonaws.com'),
        sourceArn: topic.topicArn,
      });
      new Subscription(topic, 'Dispatcher', {
        topic,
        protocol: SubscriptionProtocol.LAMBDA,
        endpoint: lambda.functionArn,
      });
      alarms.add('AlarmPathFailing', {
        subject: `${severity}-topic`,
        metric: topic.metricNumberOfNotificationsFailed({ period, statistic: 'Sum' }),
        atLeast: 1,
        links: { Topic: topicLink(topic) },
      });
    }
  }
}
