import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionPlan } from './assembly/functions.ts';
import { httpApiNames } from './assembly/http-apis.ts';
import type { RolePlan } from './assembly/roles.ts';
import { planStage, type StagePlan } from './assembly/stage-plan.ts';
import type { TablePlan } from './assembly/tables.ts';
import { localAccount, type StackTemplate } from './assembly/template.ts';
import { createEventBuses, type EventBuses, envelope } from './event-bus/bus.ts';
import { createEvents } from './event-bus/events-service.ts';
import { busTarget, deadLetterQueue, functionTarget, queueTarget } from './event-bus/targets.ts';
import { checkMapping, type EventSource, startEventSource } from './event-sources.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { type HttpApis, startHttpApis } from './http-api.ts';
import type { Journal } from './journal.ts';
import { createFunction, type LocalFunction } from './runtime/function.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import type { Caller } from './services/aws-service.ts';
import { startTables, type Tables } from './services/dynamodb.ts';
import { type Buckets, startBuckets } from './services/s3.ts';
import { type Queues, startQueues } from './services/sqs.ts';
import { createParameterStore, type ParameterValues } from './services/ssm.ts';
import { createTranscribe, type TranscribeOptions } from './transcribe/service.ts';

/** What the templates don't make: it is there before the stage is deployed, as in AWS. */
export interface Outside {
  /** SSM parameters for the functions. */
  parameters(functions: readonly FunctionPlan[]): ParameterValues;
  /** Tables of other applications that the functions read. */
  tables(functions: readonly FunctionPlan[]): TablePlan[];
  /** Variables that every function has besides the template's, as NEON_HTTP_ENDPOINT. */
  environment: Record<string, string>;
}

/** In what the stage differs from one in AWS. */
export interface StageOptions {
  /** What SQS's delays are multiplied with; default 1. */
  delayScale?: number;
  transcribe?: TranscribeOptions;
}

/** A deployed stage: its functions wait for queues, events and schedules. */
export interface LocalStage {
  /** Of the AWS endpoint. */
  origin: string;
  /** Of the HTTP APIs, by their names: webhooks are posted to `{origin}/ringcentral/{accountId}`. */
  webOrigins: ReadonlyMap<string, string>;
  plan: StagePlan;
  queues: Queues;
  buckets: Buckets;
  tables: Tables;
  buses: EventBuses;
  functions: ReadonlyMap<string, LocalFunction>;
  schedules: Schedules;
  /** The environment with which `npm run ops` and `npm run smoke` reach this stage, as somebody who may do all. */
  operator: Record<string, string>;
  /** No invocation or delivery under way, and every queue empty that has a consumer. */
  isIdle(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Deploys the stacks on this machine.
 *
 * @throws TemplateError for what the local run doesn't know in a template
 * @throws MappingRefusedError where Lambda would refuse the event source mapping
 */
export async function startStage(
  stacks: readonly StackTemplate[],
  outside: Outside,
  journal: Journal,
  options: StageOptions = {},
): Promise<LocalStage> {
  const [gateway, web] = await Promise.all([
    startGateway(journal),
    startHttpApis(stacks.flatMap(httpApiNames), journal),
  ]);
  try {
    return await deploy({ gateway, web }, stacks, outside, journal, options);
  } catch (error) {
    await Promise.all([gateway.close(), web.close()]);
    throw error;
  }
}

async function deploy(
  { gateway, web }: { gateway: Gateway; web: HttpApis },
  stacks: readonly StackTemplate[],
  outside: Outside,
  journal: Journal,
  options: StageOptions,
): Promise<LocalStage> {
  const plan = planStage(stacks, { origin: gateway.origin, webOrigin: web.origin });
  const { queues, service: sqs } = await startQueues(plan.queues, gateway.origin, options.delayScale);
  const { buckets, service: s3 } = await startBuckets(plan.buckets);
  const { tables, service: dynamodb } = await startTables([
    ...plan.tables,
    ...outside.tables(plan.functions),
  ]);

  const callers = new Map<string, Caller>();
  const functions = new Map<string, LocalFunction>();
  for (const [index, fn] of plan.functions.entries()) {
    const accessKey = `AKIALOCAL${String(index).padStart(11, '0')}`;
    callers.set(accessKey, { functionName: fn.name, role: roleOf(plan, fn) });
    const environment = { ...credentialsOf(gateway, accessKey), ...outside.environment };
    functions.set(fn.name, createFunction(fn, environment, journal));
  }
  callers.set(operatorKey, { functionName: 'operator', role: operatorRole });

  const buses: EventBuses = createEventBuses(
    plan.rules,
    {
      sqs: queueTarget(queues),
      events: busTarget(plan.roles, () => buses),
      lambda: functionTarget(plan.permissions, (arn, payload) =>
        functionNamed(functions, arn.split(':').at(-1)).invokeAsynchronously(payload),
      ),
    },
    deadLetterQueue(queues),
    journal,
  );
  const ssm = createParameterStore(outside.parameters(plan.functions));
  const transcribe = createTranscribe(
    {
      buckets,
      clock: { now: () => new Date(), sleep },
      emit: (region, type, detail) =>
        buses.put(region, 'default', envelope(region, 'aws.transcribe', type, detail)),
      track: (work) => journal.track('handler_error', 'Transcribe', work),
    },
    options.transcribe,
  );
  gateway.serve(callers, { sqs, s3, dynamodb, ssm, events: createEvents(buses), transcribe });
  const { permissions, httpApis } = plan;
  web.serve(httpApis, { permissions, functionNamed: (name) => functionNamed(functions, name) });

  const schedules = createSchedules(plan.rules, buses);
  let sources: EventSource[] = [];
  const stage: LocalStage = {
    origin: gateway.origin,
    webOrigins: new Map(httpApis.map(({ id }) => [id, web.origin(id)])),
    plan,
    queues,
    buckets,
    tables,
    buses,
    functions,
    schedules,
    operator: { ...credentialsOf(gateway, operatorKey), ...outside.environment },
    async isIdle() {
      if (journal.pending > 0 || [...functions.values()].some(({ running }) => running > 0)) return false;
      for (const { queueArn } of plan.mappings) {
        const { visible, inFlight, delayed } = await queues.depth(queueArn);
        if (visible + inFlight + delayed > 0) return false;
      }
      return true;
    },
    async close() {
      schedules.stop();
      const stopping = sources.map((source) => source.stop());
      await Promise.all([...functions.values()].map((fn) => fn.stop()));
      // Closing the queues ends the long polls that the event sources wait in.
      const parts = [gateway, web, queues, buckets, tables];
      await Promise.all([...parts.map((part) => part.close()), ...stopping]);
    },
  };
  try {
    sources = startEventSources(plan, functions, queues, journal);
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

const operatorKey = 'AKIALOCALOPERATOR000';
const operatorRole: RolePlan = {
  arn: `arn:aws:iam::${localAccount}:role/operator`,
  trusted: [],
  statements: [{ effect: 'Allow', actions: ['*'], resources: ['*'], conditions: [] }],
};

function credentialsOf({ origin }: Gateway, accessKey: string) {
  return { AWS_ENDPOINT_URL: origin, AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: 'local' };
}

/** All mappings are checked before the first one starts. */
function startEventSources(
  plan: StagePlan,
  functions: ReadonlyMap<string, LocalFunction>,
  queues: Queues,
  journal: Journal,
): EventSource[] {
  const checked = plan.mappings.map((mapping) => {
    const fn = functionNamed(functions, mapping.functionName);
    const queue = queues.find(mapping.queueArn);
    if (!queue) throw new Error(`${mapping.path}: the queue ${mapping.queueArn} does not exist`);
    checkMapping(mapping, queue, fn.plan, roleOf(plan, fn.plan));
    return { mapping, fn };
  });
  return checked.map(({ mapping, fn }) => startEventSource(mapping, fn, queues, journal));
}

function functionNamed(functions: ReadonlyMap<string, LocalFunction>, name = ''): LocalFunction {
  const fn = functions.get(name);
  if (!fn) throw new Error(`the function ${name} does not exist`);
  return fn;
}

function roleOf({ roles }: StagePlan, { name, roleArn }: FunctionPlan) {
  const role = roles.get(roleArn);
  if (!role) throw new Error(`${name}: the role ${roleArn} does not exist`);
  if (!role.trusted.includes('lambda.amazonaws.com')) {
    throw new Error(`${name}: Lambda may not assume ${roleArn}`);
  }
  return role;
}
