import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { NodeFunction } from './node-function.ts';
import { StageStack } from './stage-stack.ts';

/** Far above what accounts send, far below what would cost or take the region's Lambda concurrency. */
const throttle = { rateLimit: 200, burstLimit: 500 };

/** No address, no path, no header: who sends is RingCentral or nobody, and the path is whatever anybody types. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    requestTime: '$context.requestTime',
    routeKey: '$context.routeKey',
    status: '$context.status',
    responseLength: '$context.responseLength',
    responseLatency: '$context.responseLatency',
    integrationStatus: '$context.integrationStatus',
    integrationLatency: '$context.integrationLatency',
    integrationError: '$context.integrationErrorMessage',
    error: '$context.error.message',
  }),
);

/** The HTTP API `POST /ringcentral/{accountId}` in front of the webhook receiver. */
export class WebhookApi extends Construct {
  /** RingCentral posts to `{url}/{accountId}`. */
  readonly url: string;

  constructor(scope: Construct, id: string, receiver: NodeFunction<'webhook-receiver'>) {
    super(scope, id);
    const { config } = StageStack.of(this);
    const api = new HttpApi(this, 'Api', {
      apiName: StageStack.of(this).named('callytics-webhooks'),
      description: 'RingCentral webhooks',
      createDefaultStage: false,
    });
    const [route] = api.addRoutes({
      path: '/ringcentral/{accountId}',
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('Receiver', receiver.lambda, {
        payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
      }),
    });
    if (route) {
      Validations.of(route).acknowledge({
        id: 'AwsSolutions-APIG4',
        reason:
          'RingCentral knows no AWS authorization: the receiver checks the secret of each request itself',
      });
    }
    const logGroup = new LogGroup(this, 'AccessLogs', {
      retention: config.logRetentionDays,
      removalPolicy: config.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle,
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: accessLogFormat },
    });
    this.url = `${stage.url}ringcentral`;
  }
}
