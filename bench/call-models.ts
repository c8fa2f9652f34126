import type { Simulator } from '../local/ringcentral/simulator.ts';
import type { SimulatedCall } from '../local/ringcentral/world.ts';
import { redriveDelay } from '../src/calls/redrive.ts';
import { riverside } from '../test/simulation/call-accounts.ts';
import { CallQueue } from '../test/simulation/call-queue.ts';
import { Timetable } from '../test/simulation/call-timetable.ts';
import type { FakeClock } from '../test/support/fakes.ts';

/**
 * COMPARISON ONLY, no part of the product: what the source document describes, as small as it can be. Each message
 * waits for itself, by Retry-After and a spread; nobody paces, parks or keeps a snapshot.
 */
export interface Model {
  name: string;
  /** How often an invocation fetches the call log before it downloads. */
  fetches: 1 | 2;
  /** Clones of a message after 429s, before it is left to the queue. */
  maximumRedrives: number;
}

/** The source document's code. */
export const retryAfterOnly: Model = { name: 'Retry-After alone', fetches: 1, maximumRedrives: 5 };
/** What it replaced: a second fetch in the same invocation, and clones without an end. */
export const twoFetches: Model = {
  name: 'the old two fetches',
  fetches: 2,
  maximumRedrives: Number.POSITIVE_INFINITY,
};

export interface ModelRun {
  /** When each call's recording was downloaded, in epoch milliseconds. */
  stored: Map<string, number>;
  deadLetters: number;
}

interface Message {
  session: string;
  redriveCount: number;
}

const invocationMs = 500;
const maximumConcurrency = 5;

/** Works through the Disconnected messages of these calls for so many minutes of simulated time. */
export async function runModel(
  { fetches, maximumRedrives }: Model,
  { clock, simulator }: { clock: FakeClock; simulator: Simulator },
  calls: readonly SimulatedCall[],
  { minutes, random }: { minutes: number; random: () => number },
): Promise<ModelRun> {
  const timetable = new Timetable(clock);
  const queue = new CallQueue({ clock, onVisible: (at) => timetable.add(at, poll, { endless: true }) });
  const stored = new Map<string, number>();
  const authorization = `Bearer ${await login(simulator)}`;
  let inFlight = 0;

  async function poll(): Promise<void> {
    while (inFlight < maximumConcurrency) {
      const record = queue.receive();
      if (!record) return;
      inFlight += 1;
      const end = () => {
        inFlight -= 1;
        return poll();
      };
      if (await process(JSON.parse(record.body))) queue.delete(record.messageId);
      timetable.add(clock.now().getTime() + invocationMs, end, { endless: true });
    }
  }

  /** Whether the message may go. */
  async function process({ session, redriveCount }: Message): Promise<boolean> {
    const limited = await attempt(session);
    if (limited === undefined) return true;
    if (redriveCount >= maximumRedrives) return false;
    const clone = { session, redriveCount: redriveCount + 1 };
    await queue.send(clone, { delaySeconds: redriveDelay(limited, random) });
    return true;
  }

  /** Retry-After in seconds if RingCentral refused. */
  async function attempt(session: string): Promise<number | undefined> {
    let contentUri: string | undefined;
    for (let fetched = 0; fetched < fetches; fetched += 1) {
      let answer = await get(`/restapi/v1.0/account/~/call-log?view=Detailed&telephonySessionId=${session}`);
      if (answer.status === 403) {
        const extension = `/restapi/v1.0/account/~/extension/${riverside.ownerExtensionId}/call-log`;
        answer = await get(`${extension}?view=Detailed&telephonySessionId=${session}`);
      }
      if (answer.status === 429) return retryAfter(answer);
      const { records }: { records: { recording?: { contentUri?: string } }[] } = JSON.parse(
        await answer.text(),
      );
      contentUri = records[0]?.recording?.contentUri;
      if (!contentUri) return undefined;
    }
    const content = await get(contentUri ?? '');
    if (content.status === 429) return retryAfter(content);
    await content.arrayBuffer();
    stored.set(session, clock.now().getTime());
    return undefined;
  }

  const get = (uri: string) => fetch(new URL(uri, simulator.url), { headers: { authorization } });

  for (const call of calls) {
    simulator.calls.push(call);
    const hangUp = call.events.at(-1);
    const send = () =>
      queue.send({ session: call.telephonySessionId, redriveCount: 0 }, { delaySeconds: 90 });
    if (hangUp) timetable.add(Date.parse(hangUp.timestamp), send);
  }
  await timetable.run(clock.now().getTime() + minutes * 60_000, () => stored.size === calls.length);
  return { stored, deadLetters: queue.deadLetters.length };
}

const retryAfter = ({ headers }: Response) => Number(headers.get('retry-after'));

async function login({ url }: Simulator): Promise<string> {
  const { clientId, clientSecret, jwt } = riverside;
  const answer = await fetch(`${url}/restapi/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: jwt }),
  });
  const { access_token }: { access_token: string } = JSON.parse(await answer.text());
  return access_token;
}
