import { withInbox } from './inbox.ts';
import { type Box, startMailServer } from './mail-server.ts';
import { benchMail } from './mails.ts';
import { median, type Report, ratio } from './report.ts';
import { startStandIns } from './stand-ins.ts';
import { buildWorker, type Worker } from './worker.ts';
import type { Measurement } from './worker-process.ts';

const newMails = 100;
const boxSizes = [100, 10_000];
const rounds = 3;
const month = 30 * 24 * 60 * 60_000;
/** No lead of this run has one of these numbers twice. */
let nextMail = 0;

interface GrownBox {
  size: number;
  box: Box;
  start(): Worker;
  /** A tick with the new mails, in a process that has just started. */
  busy: Measurement[];
  /** The tick after it, with nothing to do. */
  idle: Measurement[];
}

/** What a tick costs in a small and in a large mailbox, with the same number of new mails in both. */
export async function measureGrowth(): Promise<Report> {
  const mailServer = await startMailServer();
  const standIns = await startStandIns();
  const workers = buildWorker();
  const boxes: GrownBox[] = [];
  try {
    for (const size of boxSizes) {
      const box = await mailServer.newBox();
      const plan = {
        settings: box.settings,
        neonUrl: standIns.neonUrl,
        stateTable: await standIns.newStateTable(),
      };
      await fillWithOldMail(box, size - newMails);
      boxes.push({ size, box, start: () => workers.start(plan), busy: [], idle: [] });
    }
    // The first round makes the poller's books, and isn't counted.
    for (let round = 0; round <= rounds; round++) {
      for (const grown of round % 2 === 0 ? boxes : boxes.toReversed()) await runRound(grown, round > 0);
    }
  } finally {
    workers.dispose();
    await Promise.all([mailServer.stop(), standIns.stop()]);
  }

  const [small = never(), large = never()] = boxes;
  const row = (label: string, of: (box: GrownBox) => number[], digits: number) => [
    label,
    ...[small, large].map((box) => median(of(box)).toFixed(digits)),
    ratio(of(large), of(small)),
  ];
  return {
    title: 'Growing mailbox',
    notes: [
      `${newMails} new mails in a box of this size on ${mailServer.name}, a process just started for each tick; medians of ${rounds} rounds.`,
    ],
    columns: ['', ...boxSizes.map((size) => `${size.toLocaleString('en')} mails`), ''],
    rows: [
      row('ms for each new mail', ({ busy }) => busy.map(({ wallMs }) => wallMs / newMails), 1),
      row('CPU ms for each new mail', ({ busy }) => busy.map(({ cpuMs }) => cpuMs / newMails), 1),
      row('ms for a tick without new mail', ({ idle }) => idle.map(({ wallMs }) => wallMs), 0),
      row('memory at its peak, MB', ({ idle }) => idle.map(({ peakMegabytes }) => peakMegabytes), 0),
    ],
  };
}

async function fillWithOldMail({ settings, deliver }: Box, count: number): Promise<void> {
  if (count === 0) return;
  const mails = Array.from({ length: count }, (_, mail) => benchMail(mail));
  await deliver(mails, new Date(Date.now() - month));
  await withInbox(settings, (client) => client.messageFlagsAdd('1:*', ['\\Seen'], { uid: true }));
}

async function runRound({ size, box, start, busy, idle }: GrownBox, counted: boolean): Promise<void> {
  const mails = Array.from({ length: newMails }, () => benchMail(nextMail++));
  await box.deliver(mails, new Date());
  const worker = start();
  try {
    const [first, second] = [await worker.run({ kind: 'tick' }), await worker.run({ kind: 'tick' })];
    if (counted) {
      busy.push(first);
      idle.push(second);
    }
  } finally {
    await worker.stop();
  }
  await withInbox(box.settings, async (client) => {
    const uids = (await client.search({ seen: true }, { uid: true })) || [];
    if (uids.length !== size) throw new Error('The tick did not take all mails: the numbers would be wrong');
    // The box has its size again in the next round.
    await client.messageDelete(uids.slice(-newMails), { uid: true });
  });
}

function never(): never {
  throw new Error('There are two boxes');
}
