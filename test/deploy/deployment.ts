import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleHandlers } from '../../lib/bundle.ts';
import { stages } from '../../lib/config.ts';
import { createApp } from '../../lib/stages.ts';
import type { Template } from '../support/synthesized.ts';
import { type Moto, motoAccount, motoCredentials } from './moto.ts';

const cli = path.resolve(import.meta.dirname, '../../node_modules/aws-cdk/bin/cdk');

/**
 * What moto's CloudFormation (5.2.1) passes over without an error: it has no model of these types. Beside
 * each, the tests that read it in the templates instead. Of types that it has, it leaves out a function's
 * architecture and log group, and a table's time to live: test/lib/templates.test.ts has these too.
 */
export const ignoredByMoto = {
  'AWS::ApiGatewayV2::Api': 'test/lib/call-templates.test.ts',
  'AWS::ApiGatewayV2::Integration': 'test/lib/call-templates.test.ts',
  'AWS::ApiGatewayV2::Route': 'test/lib/call-templates.test.ts',
  'AWS::ApiGatewayV2::Stage': 'test/lib/call-templates.test.ts',
  'AWS::CloudWatch::Alarm': 'test/lib/alarms.test.ts, test/lib/alarm-path.test.ts',
  'AWS::Lambda::EventInvokeConfig': 'test/lib/templates.test.ts, test/lib/alarm-path.test.ts',
  'AWS::Logs::QueryDefinition': 'test/lib/queries.test.ts',
  'AWS::S3::BucketPolicy': 'test/lib/call-templates.test.ts',
  'AWS::SNS::Subscription': 'test/lib/alarm-path.test.ts',
  'AWS::SNS::TopicPolicy': 'test/lib/templates.test.ts, test/lib/alarms.test.ts',
  'AWS::SQS::QueuePolicy': 'test/lib/templates.test.ts, test/integration/local-run.test.ts',
} as const satisfies Record<string, string>;

/** The types that moto's log says it has passed over. */
export function passedOver(log: string): string[] {
  const found = [...log.matchAll(/No Moto CloudFormation support for (AWS::[\w:]+)/g)];
  return [...new Set(found.map((match) => match[1] ?? ''))].toSorted();
}

/** The CDK command line against moto, in a directory of its own. */
export interface Deployment {
  /** What an account needs before its first deployment, in both regions. */
  bootstrap(): Promise<void>;
  /** Synthesizes and deploys every stack of both stages. Returns what the command line has printed. */
  deploy(): Promise<string>;
}

export function createDeployment(moto: Moto, directory: string): Deployment {
  // Not in the project: there the command line would synthesize the app for it.
  const elsewhere = path.join(directory, 'elsewhere');
  mkdirSync(elsewhere);
  const env = {
    PATH: process.env.PATH,
    // Nobody's profile and cache.
    HOME: elsewhere,
    AWS_ACCESS_KEY_ID: motoCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: motoCredentials.secretAccessKey,
    AWS_ENDPOINT_URL: moto.endpoint,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    CDK_DISABLE_VERSION_CHECK: '1',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
  const cdk = (...args: string[]) =>
    new Promise<string>((resolve, reject) => {
      const options = { cwd: elsewhere, env };
      execFile(
        process.execPath,
        [cli, ...args, '--no-notices', '--no-color'],
        options,
        (error, out, errors) =>
          error ? reject(new Error(`cdk ${args[0]}: ${errors}${out}`)) : resolve(errors + out),
      );
    });

  let deployments = 0;
  return {
    async bootstrap() {
      const environments = ['us-east-1', 'us-west-2'].map((region) => `aws://${motoAccount}/${region}`);
      await cdk('bootstrap', ...environments);
    },
    deploy() {
      const outdir = path.join(directory, `cdk.out-${++deployments}`);
      synthesize(outdir);
      // Directly: after a change set moto's stacks have no outputs, and can't be deployed again.
      const how = ['--method=direct', '--require-approval=never'];
      return cdk('deploy', ...stages.map(({ name }) => `${name}/*`), '--app', outdir, ...how);
    },
  };
}

/** The app of bin/callytics.ts for moto's account; `npm run synth` has the templates validated. */
function synthesize(outdir: string): void {
  const { directories } = bundleHandlers(`${outdir}-dist`);
  const configs = stages.map((config) => ({ ...config, account: motoAccount }));
  const assembly = createApp(configs, directories, {
    outdir,
    builtinCloudFormationValidation: false,
  }).synth();
  for (const { nestedAssembly } of assembly.nestedAssemblies) {
    for (const stack of nestedAssembly.stacks) nameAlarms(stack.templateFullPath, stack.environment.region);
  }
}

/** A gap of moto's: without a model of alarms it refuses Fn::GetAtt on one. So their ARNs are written out. */
function nameAlarms(file: string, region: string): void {
  const template: Template = JSON.parse(readFileSync(file, 'utf8'));
  const resolved = JSON.stringify(template, (_key, value) => {
    const [id, attribute] = value?.['Fn::GetAtt'] ?? [];
    const resource = template.Resources[id];
    if (resource?.Type !== 'AWS::CloudWatch::Alarm' || attribute !== 'Arn') return value;
    return `arn:aws:cloudwatch:${region}:${motoAccount}:alarm:${resource.Properties.AlarmName}`;
  });
  writeFileSync(file, resolved);
}
