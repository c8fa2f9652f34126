import { type Json, localAccount } from './template.ts';

/** What `Ref` and `Fn::GetAtt` of a resource give. */
interface References {
  ref: string;
  attributes: Record<string, string>;
}

export interface PhysicalResource extends References {
  name: string;
}

interface Place {
  stackName: string;
  region: string;
  /** Origin of the local AWS endpoint: queue URLs start with it. */
  origin: string;
  /** Origin of an HTTP API, by its id. */
  webOrigin(apiId: string): string;
}

interface ResourceType {
  /** The property that names the resource; without it a name is made from the logical id. */
  nameProperty?: string;
  describe(name: string, place: Place, property: (key: string) => Json | undefined): References;
}

const arn = (service: string, region: string, resource: string) =>
  `arn:aws:${service}:${region}:${localAccount}:${resource}`;

/** Where AWS would have an HTTP API. */
export const apiAddress = (id: string, region: string) => `https://${id}.execute-api.${region}.amazonaws.com`;

/** A part of an HTTP API: nobody outside the API refers to it but by its id. */
const apiPart: ResourceType = { describe: (name) => ({ ref: name, attributes: {} }) };

const table: ResourceType = {
  nameProperty: 'TableName',
  describe: (name, { region }) => ({
    ref: name,
    attributes: { Arn: arn('dynamodb', region, `table/${name}`) },
  }),
};

/** The resource types that functions refer to. Every other type on a function's path is an error. */
const resourceTypes: Record<string, ResourceType> = {
  'AWS::DynamoDB::Table': table,
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    describe: (name, { region, origin }) => ({
      ref: `${origin}/${localAccount}/${name}`,
      attributes: {
        Arn: arn('sqs', region, name),
        QueueName: name,
        QueueUrl: `${origin}/${localAccount}/${name}`,
      },
    }),
  },
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    describe: (name, { region }) => ({
      ref: name,
      attributes: { Arn: arn('lambda', region, `function:${name}`) },
    }),
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    describe: (name) => ({ ref: name, attributes: { Arn: arn('iam', '', `role/${name}`) } }),
  },
  'AWS::Events::EventBus': {
    nameProperty: 'Name',
    describe: (name, { region }) => ({
      ref: name,
      attributes: { Arn: arn('events', region, `event-bus/${name}`), Name: name },
    }),
  },
  'AWS::Events::Rule': {
    nameProperty: 'Name',
    describe: (name, { region }, property) => {
      const bus = property('EventBusName');
      const onOtherBus = typeof bus === 'string' && bus !== 'default' ? `${bus.split('/').at(-1)}/` : '';
      return { ref: name, attributes: { Arn: arn('events', region, `rule/${onOtherBus}${name}`) } };
    },
  },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    describe: (name, { region }) => ({
      ref: name,
      attributes: { Arn: arn('logs', region, `log-group:${name}:*`) },
    }),
  },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    describe: (name, { region }) => ({
      ref: arn('sns', region, name),
      attributes: { TopicArn: arn('sns', region, name), TopicName: name },
    }),
  },
  'AWS::ApiGatewayV2::Api': {
    // The id is part of a host name, as in AWS, where it has no relation to the name.
    nameProperty: 'Name',
    describe: (name, { webOrigin }) => ({
      ref: name,
      attributes: { ApiId: name, ApiEndpoint: webOrigin(name) },
    }),
  },
  'AWS::ApiGatewayV2::Integration': apiPart,
  'AWS::ApiGatewayV2::Route': apiPart,
  'AWS::ApiGatewayV2::Stage': apiPart,
  'AWS::S3::Bucket': {
    nameProperty: 'BucketName',
    describe: (name) => ({
      ref: name.toLowerCase(),
      attributes: { Arn: `arn:aws:s3:::${name.toLowerCase()}` },
    }),
  },
};

/**
 * Ref and attributes of a resource, or `undefined` for a type that the local run doesn't know.
 *
 * @param property reads one of the resource's properties, resolved
 */
export function physicalResource(
  typeName: string,
  id: string,
  place: Place,
  property: (key: string) => Json | undefined,
): PhysicalResource | undefined {
  const type = resourceTypes[typeName];
  if (!type) return undefined;
  const given = type.nameProperty === undefined ? undefined : property(type.nameProperty);
  const name = String(given ?? `${place.stackName}-${id}`);
  return { name, ...type.describe(name, place, property) };
}
