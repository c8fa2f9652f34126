import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  type EventInvokeConfigOptions,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Environment, FunctionName } from '../../src/platform/environment.ts';
import { functionLink, logsLink } from '../console-links.ts';
import { metricsNamespace } from './alarms.ts';
import type { Binding } from './bindings.ts';
import { StageStack } from './stage-stack.ts';
import { acknowledgeWildcard } from './wildcards.ts';

type CommonVariable = 'STAGE' | 'LOG_LEVEL' | 'POWERTOOLS_SERVICE_NAME' | 'POWERTOOLS_METRICS_NAMESPACE';

/** A binding for each variable of the function's contract; a missing or surplus one doesn't compile. */
export type Bindings<F extends FunctionName> = {
  readonly [K in keyof Omit<Environment<F>, CommonVariable>]: Binding;
};

export interface NodeFunctionProps<F extends FunctionName> {
  /** The handler's file in `src/`, its environment contract, and the `service` of its logs and metrics. */
  readonly name: F;
  /** The seed's name, without stage and region. */
  readonly physicalName: string;
  readonly description: string;
  readonly timeout: Duration;
  readonly memorySize: number;
  readonly environment: Bindings<F>;
  /** For a function that is started asynchronously: how often and how long Lambda tries, and what then. */
  readonly asynchronous?: EventInvokeConfigOptions;
}

/** A Lambda function with its role, log group and alarms. It may do what its bindings say, and no more. */
export class NodeFunction<F extends FunctionName> extends Construct {
  readonly name: F;
  readonly lambda: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  /** Console links for the alarms that concern this function. */
  readonly links: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: NodeFunctionProps<F>) {
    super(scope, id);
    const stack = StageStack.of(this);
    const { config, alarms } = stack;
    this.name = props.name;
    const functionName = stack.named(props.physicalName);

    this.logGroup = new LogGroup(this, 'Logs', {
      retention: config.logRetentionDays,
      removalPolicy: config.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    // Own role: the managed AWSLambdaBasicExecutionRole may write to every log group.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);

    const variables: Record<string, string> = {
      STAGE: config.name,
      LOG_LEVEL: config.logLevel,
      POWERTOOLS_SERVICE_NAME: props.name,
      POWERTOOLS_METRICS_NAMESPACE: metricsNamespace,
    };
    for (const [variable, { value, allow }] of Object.entries<Binding>(props.environment)) {
      variables[variable] = value;
      for (const { wildcard, ...permission } of allow) {
        this.role.addToPolicy(new PolicyStatement(permission));
        if (!wildcard) continue;
        for (const resource of permission.resources) acknowledgeWildcard(this.role, resource, wildcard);
      }
    }

    this.lambda = new LambdaFunction(this, 'Function', {
      functionName,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(stack.handlers(props.name)),
      handler: 'index.handler',
      timeout: props.timeout,
      memorySize: props.memorySize,
      environment: variables,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[config.logLevel],
      // A chain that comes back to a function over and over is a fault here: nothing re-sends for ever.
      recursiveLoop: RecursiveLoop.TERMINATE,
      ...props.asynchronous,
    });

    this.links = {
      Function: functionLink(this, functionName),
      Logs: logsLink(this, this.logGroup.logGroupName),
    };
    const period = Duration.minutes(5);
    alarms.add('FunctionThrottled', {
      subject: props.name,
      metric: this.lambda.metricThrottles({ period }),
      atLeast: 1,
      links: this.links,
    });
    alarms.add('RecursionStopped', {
      subject: props.name,
      metric: this.lambda.metric('RecursiveInvocationsDropped', { period, statistic: 'Sum' }),
      atLeast: 1,
      links: this.links,
    });
  }
}
