import { Annotations, type Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { alarmTopicName, type Severity } from '../../src/alarms/topic.ts';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { MetricName } from '../../src/platform/metric-names.ts';
import { type AlarmName, type AlarmText, alarmTexts, runbookAnchor } from '../alarms.ts';
import type { StageConfig } from '../config.ts';
import { physicalName } from '../names.ts';

/** POWERTOOLS_METRICS_NAMESPACE of every function, and so the namespace of our own metrics. */
export const metricsNamespace = 'Callytics';

/** CloudWatch keeps at most this much of an alarm's description. */
const descriptionLimit = 1024;

/** The alarm goes off at this value and above, or below it. */
type Threshold = { readonly atLeast: number } | { readonly below: number };

type AlarmCondition = Threshold & {
  readonly metric: IMetric;
  /** Periods that must breach, out of as many unless `outOf` says more. Default 1. */
  readonly periods?: number;
  readonly outOf?: number;
  /** Default: silence is fine. */
  readonly missing?: TreatMissingData;
  /** Console deep links by label. */
  readonly links: Readonly<Record<string, string>>;
  /** What the alarm is about, where one text serves several resources. */
  readonly subject?: string;
};

/** The alarms of one stack, and the topics they go to. */
export class Alarms extends Construct {
  /** To the alarm dispatcher, one a severity. */
  readonly topics: Readonly<Record<Severity, Topic>>;
  /** By e-mail, past the dispatcher: what tells that the other two don't arrive. */
  readonly pathTopic: Topic;
  readonly all: Alarm[] = [];
  private readonly config: StageConfig;

  constructor(scope: Construct, id: string, config: StageConfig) {
    super(scope, id);
    this.config = config;
    this.topics = {
      page: this.topic('page', alarmTopicName('page')),
      look: this.topic('look', alarmTopicName('look')),
    };
    this.pathTopic = this.topic('path', 'callytics-alarm-path');
    if (config.alarmEmail) {
      this.pathTopic.addSubscription(new EmailSubscription(config.alarmEmail));
    } else {
      Annotations.of(this.pathTopic).addWarningV2(
        'callytics:alarmEmail',
        `stage ${config.name} has no alarmEmail: nobody is told when alarms don't reach Lark`,
      );
    }
  }

  /** Makes the alarm of the registry that has this name. */
  add(name: AlarmName, condition: AlarmCondition): void {
    const { metric, periods = 1, outOf = periods, subject, missing, links } = condition;
    const { severity, meaning, byEmail }: AlarmText = alarmTexts[name];
    const fullName = subject ? `${name}-${subject}` : name;
    const alarm = new Alarm(this, fullName, {
      alarmName: this.named(fullName),
      alarmDescription: describe(meaning, {
        Runbook: `${this.config.runbook}#${runbookAnchor(name)}`,
        ...links,
      }),
      metric,
      ...('below' in condition
        ? { threshold: condition.below, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }
        : {
            threshold: condition.atLeast,
            comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          }),
      evaluationPeriods: outOf,
      datapointsToAlarm: periods,
      treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(byEmail ? this.pathTopic : this.topics[severity]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.all.push(alarm);
  }

  /** One of our own metrics, as a function of this stage emits it. */
  metric(service: FunctionName, name: MetricName, period: Duration, statistic = Stats.MAXIMUM): Metric {
    return new Metric({
      namespace: metricsNamespace,
      metricName: name,
      dimensionsMap: { service, Stage: this.config.name },
      period,
      statistic,
    }).attachTo(this);
  }

  private named(base: string): string {
    return physicalName(base, this.config.name, Stack.of(this).region);
  }

  private topic(id: string, name: string): Topic {
    const topic = new Topic(this, id, { topicName: this.named(name), enforceSSL: true });
    // enforceSSL replaces the default topic policy, which is what lets CloudWatch alarms publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsOfThisAccount',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }
}

function describe(meaning: string, links: Readonly<Record<string, string>>): string {
  const lines = [meaning, ...Object.entries(links).map(([label, link]) => `${label}: ${link}`)];
  const description = lines.join('\n');
  if (description.length > descriptionLimit) throw new Error(`alarm description too long: ${meaning}`);
  return description;
}
