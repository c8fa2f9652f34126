import { countedStage, type Requests } from './counted-stage.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { benchMail } from './mails.ts';
import type { Report } from './report.ts';
import { type StandIns, startStandIns } from './stand-ins.ts';

/** As many as open the breaker: a Neon that is down sees each of them. */
const leads = 5;
/** Layouts of bench/mails.ts. */
const [webLead, newsletter] = [0, 8];
const unavailable = { kind: 'fail', status: 503, message: 'the compute is not reachable' } as const;

/** How many requests a lead costs on each of its ways. */
export async function measureRoundTrips(): Promise<Report> {
  const mailServer = await startMailServer();
  const standIns = await startStandIns();
  try {
    const ways = await countWays(mailServer, standIns);
    return {
      title: 'Round trips a lead',
      notes: [
        "Requests for each lead, counted at Neon's endpoint, at DynamoDB and at the ports of bus and queue.",
      ],
      columns: ['', 'Neon', 'DynamoDB', 'EventBridge', 'SQS'],
      rows: Object.entries(ways).map(([way, { neon, dynamoDb, eventBridge, sqs }]) => [
        way,
        ...[neon, dynamoDb, eventBridge, sqs].map((count) => String(Number(count.toFixed(2)))),
      ]),
    };
  } finally {
    await Promise.all([mailServer.stop(), standIns.stop()]);
  }
}

async function countWays(mailServer: MailServer, standIns: StandIns): Promise<Record<string, Requests>> {
  let person = 0;
  const mails = (layout: number) => Array.from({ length: leads }, () => benchMail(10 * person++ + layout));
  const known = mails(webLead);
  const ways: Record<string, Requests> = {};

  const usual = await countedStage(mailServer, standIns);
  ways['a tick by itself, without mail'] = usual.idle;
  ways['poller: a new lead'] = await usual.poll(known);
  ways['poller: the same mail once more'] = await usual.poll(known);
  ways['poller: a mail without a lead'] = await usual.poll(mails(newsletter));
  ways['lead processor: its event'] = await usual.processLeads();
  ways['lead processor: the same event once more'] = await usual.processLeads();

  const hiccup = await countedStage(mailServer, standIns);
  let attempts = 0;
  hiccup.failNeon(() => (attempts++ % 2 === 0 ? unavailable : undefined));
  ways['poller: a new lead, Neon fails at first'] = await hiccup.poll(mails(webLead));

  const outage = await countedStage(mailServer, standIns);
  outage.failNeon(() => unavailable);
  ways['poller: a new lead while Neon is down'] = await outage.poll(mails(webLead));
  ways['poller: a new lead, the breaker open'] = await outage.poll(mails(webLead));
  ways['retry processor: these leads'] = await outage.retry();

  const noBus = await countedStage(mailServer, standIns);
  noBus.failBus();
  ways['poller: a new lead, the bus fails'] = await noBus.poll(mails(webLead));
  ways['retry processor: that lead'] = await noBus.retry();
  return ways;
}
