import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

import { regions, stages } from '../../lib/config.ts';
import { physicalName } from '../../lib/names.ts';
import type { EventEnvelope } from '../../local/event-bus/bus.ts';
import { createEvents } from '../../local/event-bus/events-service.ts';
import { startGateway } from '../../local/gateway.ts';
import { createJournal } from '../../local/journal.ts';
import { startTables } from '../../local/services/dynamodb.ts';
import { startQueues } from '../../local/services/sqs.ts';
import { createParameterStore } from '../../local/services/ssm.ts';
import { ops } from '../../src/ops/commands.ts';
import { runScript, type Script } from '../../src/ops/run.ts';
import { awsClientConfig } from '../../src/platform/aws-client-config.ts';
import { createStateTable } from '../../src/platform/state-table.ts';
import { freshDatabase } from '../support/database.ts';
import { startHoodiecrow } from '../support/hoodiecrow.ts';
import { riversideStore } from '../support/leads.ts';

const accessKey = 'AKIAOPERATOR00000000';
const account = '000000000000';

/** The test stage's queues, without consumers. */
const queuePlans = [
  queuePlan('neon-write-dlq', regions.leads),
  queuePlan('neon-write-final-dlq', regions.leads),
  queuePlan('forwarding-dlq', regions.leads),
  queuePlan('lead-processor-queue', regions.calls),
  queuePlan('lead-processor-dlq', regions.calls),
  queuePlan('transcribe-queue', regions.calls),
  queuePlan('transcribe-dlq', regions.calls),
];

function queuePlan(base: string, region: string) {
  const name = physicalName(base, 'test', region);
  return {
    name,
    region,
    arn: `arn:aws:sqs:${region}:${account}:${name}`,
    visibilitySeconds: 120,
    delaySeconds: 0,
    retentionSeconds: 1_209_600,
    policy: [],
  };
}

/** Stage test as an operator reaches it: AWS by the SDK, a new database, mailbox and queues, and one store. */
export async function startOperatorStage() {
  const gateway = await startGateway(createJournal());
  const { queues, service: sqs } = await startQueues(queuePlans, gateway.origin);
  const storesTable = {
    name: 'StoresV2',
    region: regions.calls,
    attributes: [{ AttributeName: 'storeId', AttributeType: 'S' as const }],
    key: [{ AttributeName: 'storeId', KeyType: 'HASH' as const }],
    indexes: [],
  };
  const stateTable = {
    name: physicalName('CallyticsState', 'test', regions.calls),
    region: regions.calls,
    attributes: [{ AttributeName: 'pk', AttributeType: 'S' as const }],
    key: [{ AttributeName: 'pk', KeyType: 'HASH' as const }],
    indexes: [],
  };
  const { tables, service: dynamodb } = await startTables([storesTable, stateTable]);
  const published: EventEnvelope[] = [];
  const bus: { refuses: boolean; onPut?(event: EventEnvelope): void } = { refuses: false };
  const events = createEvents({
    records: [],
    has: () => !bus.refuses,
    put(_region, _bus, event) {
      published.push(event);
      bus.onPut?.(event);
    },
    forward: async () => undefined,
    fire: () => undefined,
  });
  const imap = await startHoodiecrow();
  const database = await freshDatabase();
  const parameters = new Map([
    ['/lead-tracking/neon-database-url-test', database.url],
    ['/lead-tracking/imap-test', JSON.stringify(imap.settings)],
  ]);
  const callParameters = new Map<string, string>();
  const ssm = createParameterStore(
    new Map([
      [regions.leads, parameters],
      [regions.calls, callParameters],
    ]),
  );
  const everything = { effect: 'Allow' as const, actions: ['*'], resources: ['*'], conditions: [] };
  const role = { arn: `arn:aws:iam::${account}:role/operator`, trusted: [], statements: [everything] };
  gateway.serve(new Map([[accessKey, { functionName: 'operator', role }]]), { sqs, dynamodb, events, ssm });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: gateway.origin,
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  const arnOf = (base: string) => queuePlans.find(({ name }) => name.startsWith(`${base}-test-`))?.arn ?? '';

  await tables.put(storesTable, riversideStore);

  return {
    database,
    imap,
    /** SSM of the calls' region. */
    callParameters,
    callState: createStateTable(
      stateTable.name,
      new DynamoDBClient({ ...awsClientConfig, region: regions.calls, endpoint: gateway.origin }),
    ),
    published,
    /** While `refuses`, PutEvents answers 200 with a failed entry. `onPut` hears of each event that was taken. */
    bus,
    send: (base: string, body: unknown) =>
      queues.send(arnOf(base), typeof body === 'string' ? body : JSON.stringify(body)),
    depth: async (base: string) => (await queues.depth(arnOf(base))).visible,
    inFlight: async (base: string) => (await queues.depth(arnOf(base))).inFlight,
    receive: (base: string) => queues.receive(arnOf(base), 10, 0),
    putStore: (store: Record<string, unknown>) => tables.put(storesTable, store),
    async close() {
      await Promise.all([imap.stop(), gateway.close(), queues.close(), tables.close()]);
    },
  };
}

export type OperatorStage = Awaited<ReturnType<typeof startOperatorStage>>;

/** Runs a command as bin/ops.ts does; with what it wrote. */
export async function operate(argv: readonly string[], script: Script = ops) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) };
  const deployment = { stages, regions, physicalName };
  const code = await runScript(script, argv, { deployment, terminal });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** The same with `--json`: what it printed, parsed. */
export async function operateJson(...argv: string[]) {
  const { code, out, err } = await operate([...argv, '--json']);
  return { code, err, printed: out === '' ? undefined : JSON.parse(out) };
}
