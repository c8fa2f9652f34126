import { withInbox } from './inbox.ts';
import { startMailServer } from './mail-server.ts';
import { benchMail } from './mails.ts';
import { median, type Report, ratio } from './report.ts';
import { startStandIns } from './stand-ins.ts';
import { buildWorker } from './worker.ts';
import type { Job, Measurement } from './worker-process.ts';

/** As many as one tick takes. */
const mailsPerRound = 200;
const rounds = 3;

interface Reader {
  label: string;
  job(uids: readonly number[]): Job;
  results: Measurement[];
}

const alone: Reader = {
  label: 'imapflow + mailparser alone, a FETCH for each mail',
  job: (uids) => ({ kind: 'libraries', fetch: 'each', uids }),
  results: [],
};
const readers: Reader[] = [
  {
    label: 'imapflow + mailparser alone, one FETCH for all',
    job: (uids) => ({ kind: 'libraries', fetch: 'all', uids }),
    results: [],
  },
  alone,
  { label: 'our mailbox and parser', job: (uids) => ({ kind: 'reading', uids }), results: [] },
  { label: 'the tick: read, store, publish, mark', job: () => ({ kind: 'tick' }), results: [] },
];

/** Mails per second of the poller against those of its libraries alone, on the same mails in the same run. */
export async function measureThroughput(): Promise<Report> {
  const mailServer = await startMailServer();
  const standIns = await startStandIns();
  const workers = buildWorker();
  const { settings, deliver } = await mailServer.newBox();
  const worker = workers.start({
    settings,
    neonUrl: standIns.neonUrl,
    stateTable: await standIns.newStateTable(),
  });
  const unseen = () =>
    withInbox(settings, async (client) => (await client.search({ seen: false }, { uid: true })) || []);
  try {
    // The first round warms up what stays warm in a Lambda, and isn't counted.
    for (let round = 0; round <= rounds; round++) {
      const mails = Array.from({ length: mailsPerRound }, (_, mail) =>
        benchMail(round * mailsPerRound + mail),
      );
      await deliver(mails, new Date());
      const uids = await unseen();
      for (const { job, results } of round % 2 === 0 ? readers : readers.toReversed()) {
        const result = await worker.run(job(uids));
        if (round > 0) results.push(result);
      }
      if (uids.length !== mailsPerRound || (await unseen()).length > 0) {
        throw new Error('The tick did not take all mails: the numbers would be wrong');
      }
    }
  } finally {
    await worker.stop();
    workers.dispose();
    await Promise.all([mailServer.stop(), standIns.stop()]);
  }

  const wall = ({ results }: Reader) => results.map(({ wallMs }) => wallMs / mailsPerRound);
  const cpu = ({ results }: Reader) => results.map(({ cpuMs }) => cpuMs / mailsPerRound);
  return {
    title: 'Mails per second',
    notes: [
      `Rounds of ${mailsPerRound} mails in ten layouts from ${mailServer.name} in changing order; medians of ${rounds} rounds, login included.`,
    ],
    columns: ['', 'mails/s', 'ms a mail', 'time', 'CPU ms a mail', 'CPU'],
    rows: readers.map((reader) => [
      reader.label,
      (1000 / median(wall(reader))).toFixed(0),
      median(wall(reader)).toFixed(1),
      ratio(wall(reader), wall(alone)),
      median(cpu(reader)).toFixed(1),
      ratio(cpu(reader), cpu(alone)),
    ]),
  };
}
