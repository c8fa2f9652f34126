import type { NeonFault } from '../local/neon-endpoint.ts';
import { recordLead } from '../src/contacts/record-lead.ts';
import { leadCreatedEnvelopeSchema } from '../src/leads/lead-created.ts';
import { retryMessageSchema } from '../src/leads/retry-message.ts';
import { storeAndPublish } from '../src/leads/store-and-publish.ts';
import type { BusEvent } from '../src/platform/events.ts';
import type { Log } from '../src/platform/logger.ts';
import type { MailServer } from './mail-server.ts';
import { benchMail } from './mails.ts';
import { createTick, neonAt, type PollerPlan, storingSteps } from './poller.ts';
import type { StandIns } from './stand-ins.ts';

/** Requests that left the process. Neon and DynamoDB are counted at their servers, the others at our ports. */
export interface Requests {
  neon: number;
  dynamoDb: number;
  eventBridge: number;
  sqs: number;
}

const noLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };

/** An empty mailbox with its own poller and breaker, whose books and caches are already there. */
export async function countedStage(mailServer: MailServer, standIns: StandIns) {
  const box = await mailServer.newBox();
  const events: BusEvent[] = [];
  const messages: unknown[] = [];
  const requests = { eventBridge: 0, sqs: 0, neon: 0 };
  let neonFault: (queries: readonly string[]) => NeonFault | undefined = () => undefined;
  let busWorks = true;

  standIns.neon.onRequest = ({ queries }) => {
    requests.neon += 1;
    return neonFault(queries);
  };
  const plan: PollerPlan = {
    settings: box.settings,
    neonUrl: standIns.neonUrl,
    stateTable: await standIns.newStateTable(),
    bus: {
      async publish(event) {
        requests.eventBridge += 1;
        if (!busWorks) throw new Error('the bus fails');
        events.push(event);
      },
    },
    queue: {
      async send(message) {
        requests.sqs += 1;
        messages.push(message);
      },
      async changeVisibility() {
        requests.sqs += 1;
      },
    },
    log: noLog,
    meter: { count() {}, flush() {} },
  };
  const tick = createTick(plan);

  async function count(work: () => Promise<unknown>): Promise<Requests> {
    const before = { ...requests, dynamoDb: standIns.dynamoDbCalls.length };
    await work();
    return less({ ...requests, dynamoDb: standIns.dynamoDbCalls.length }, before);
  }

  // An automatic answer fills the caches and leaves no lead.
  await box.deliver([benchMail(9)], new Date());
  await tick();
  await tick();
  const idle = await count(tick);

  return {
    /** A tick without mail. */
    idle,
    /** Lets the statements that store a lead meet a fault; `undefined` lets them through. */
    failNeon(fault: () => NeonFault | undefined) {
      // Only what stores a lead is a batch.
      neonFault = (queries) => (queries.length > 1 ? fault() : undefined);
    },
    failBus() {
      busWorks = false;
    },
    /** The poller takes these mails; requests for each of them. */
    async poll(mails: readonly Buffer[]): Promise<Requests> {
      await box.deliver(mails, new Date());
      const total = await count(tick);
      // The next tick moves the watermark, once for all of them: that belongs to no mail.
      await tick();
      return each(less(total, idle), mails.length);
    },
    /** The lead processor takes what the bus got; requests for each event. */
    async processLeads(): Promise<Requests> {
      const neon = neonAt(plan.neonUrl);
      const leads = events.map(
        ({ source, detailType, detail }) =>
          leadCreatedEnvelopeSchema.parse(asJson({ source, 'detail-type': detailType, detail })).detail,
      );
      const now = new Date();
      const total = await count(async () => {
        for (const lead of leads) {
          await neon.run((db) => recordLead(db, lead, now, hours), new Date(Date.now() + 10_000));
        }
      });
      return each(total, leads.length);
    },
    /** The retry processor takes what was queued, with Neon and bus up again; requests for each message. */
    async retry(): Promise<Requests> {
      neonFault = () => undefined;
      busWorks = true;
      const steps = storingSteps({ ...plan, stateTable: await standIns.newStateTable() });
      const records = messages.map((message) => retryMessageSchema.parse(asJson(message)));
      const total = await count(async () => {
        for (const record of records) await storeAndPublish(steps, record);
      });
      return each(total, records.length);
    },
  };
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function less(left: Requests, right: Requests): Requests {
  return combine((key) => left[key] - right[key]);
}

function each(total: Requests, count: number): Requests {
  return combine((key) => total[key] / count);
}

function combine(value: (key: keyof Requests) => number): Requests {
  return {
    neon: value('neon'),
    dynamoDb: value('dynamoDb'),
    eventBridge: value('eventBridge'),
    sqs: value('sqs'),
  };
}
