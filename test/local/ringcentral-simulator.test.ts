import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  anonymousCall,
  answeredCall,
  missedCall,
  queueCall,
  transferCall,
  voicemailCall,
} from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { type SchemaName, schemaErrors } from '../ringcentral/schema-check.ts';
import {
  account,
  readJson,
  startTestSimulator,
  type TestSimulator,
} from '../ringcentral/simulated-account.ts';

let simulator: TestSimulator;
let token: string;
const tokenSeconds = 3 * 86_400;
const { accountId } = account;
const root = '/restapi/v1.0/account/~';

beforeEach(async () => {
  simulator = await startTestSimulator({ limits: { heavy: { limit: 100 } }, tokenSeconds });
  token = (await login()).access_token;
});
afterEach(() => simulator.stop());

async function login(jwt = account.jwt, secret = account.clientSecret) {
  const answer = await fetch(`${simulator.url}/restapi/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${account.clientId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: jwt,
    }),
  });
  return { status: answer.status, ...(await readJson(answer)) };
}

function get(pathOrUrl: string, headers: Record<string, string> = {}): Promise<Response> {
  const url = pathOrUrl.startsWith('http') ? pathOrUrl : `${simulator.url}${pathOrUrl}`;
  return fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } });
}

/** The JSON of a path, after RingCentral's schema has nothing against it. */
async function getJson(schema: SchemaName, pathOrUrl: string) {
  const body = await readJson(get(pathOrUrl));
  expect(schemaErrors(schema, body)).toEqual([]);
  return body;
}

const add = (call: SimulatedCall): SimulatedCall => {
  simulator.calls.push(call);
  return call;
};
const options = (number = 1) => ({ accountId, number, startedAt: simulator.clock.now() });
const wait = (seconds: number) => simulator.clock.advance(seconds * 1000);

describe('OAuth', () => {
  it('answers a JWT with a token as the schema has it', async () => {
    expect(schemaErrors('TokenInfo', await login())).toEqual([]);
  });

  it('refuses an unknown JWT and a wrong secret', async () => {
    expect(await login('other')).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await login(account.jwt, 'wrong')).toMatchObject({ status: 401, error: 'invalid_client' });
  });

  it('ends a token after its life', async () => {
    wait(tokenSeconds - 1);
    expect((await get(`${root}/call-log`)).status).toBe(200);
    wait(1);
    const answer = await get(`${root}/call-log`);
    expect(answer.status).toBe(401);
    expect(schemaErrors('ApiErrorResponseModel', await readJson(answer))).toEqual([]);
  });

  it('keeps five sessions of a user: the sixth ends the first', async () => {
    const first = token;
    for (const minutes of [1, 1, 1, 1]) {
      wait(minutes * 60);
      await login();
    }
    expect((await get(`${root}/call-log`)).status).toBe(200);
    wait(60);
    await login();
    expect((await get(`${root}/call-log`, { authorization: `Bearer ${first}` })).status).toBe(401);
  });
});

describe('call log', () => {
  it.each([
    ['answered', answeredCall],
    ['missed', missedCall],
    ['voicemail', voicemailCall],
    ['transfer', transferCall],
    ['queue', queueCall],
    ['anonymous', anonymousCall],
  ])(
    'lists the sample call "%s" as the schema has it, in both views, and its events too',
    async (_, build) => {
      const call = add(build(options()));
      wait(3600);
      for (const view of ['Simple', 'Detailed']) {
        const path = `${root}/call-log?view=${view}&telephonySessionId=${call.telephonySessionId}`;
        const { records } = await getJson('CallLogResponse', path);
        expect(records).toHaveLength(1);
        expect('legs' in records[0]).toBe(view === 'Detailed');
        await getJson('CallLogRecord', records[0].uri);
      }
      for (const event of call.events)
        expect(schemaErrors('AccountTelephonySessionsEvent', event)).toEqual([]);
      const sequences = call.events.map(({ body }) => body.sequence);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    },
  );

  it('lags behind the end of the call, and the recording comes later still', async () => {
    const call = add(answeredCall({ ...options(), talkSeconds: 100, recordingDelaySeconds: 240 }));
    const path = `${root}/call-log?view=Detailed&telephonySessionId=${call.telephonySessionId}`;
    wait(108 + 19);
    expect((await getJson('CallLogResponse', path)).records).toEqual([]);
    wait(1);
    expect((await getJson('CallLogResponse', path)).records[0].recording).toBeUndefined();
    wait(219);
    expect((await getJson('CallLogResponse', path)).records[0].legs[0].recording).toBeUndefined();
    wait(1);
    const [record] = (await getJson('CallLogResponse', path)).records;
    expect(record.recording).toEqual(record.legs[0].recording);
    expect(Date.parse(record.lastModifiedTime)).toBe(call.endedAt + 240_000);
  });

  it('says In Progress of a call that is listed before its end', async () => {
    const call = add(answeredCall(options()));
    for (const record of call.records) record.visibleAt = 0;
    wait(10);
    const { records } = await getJson('CallLogResponse', `${root}/call-log`);
    expect(records[0].result).toBe('In Progress');
  });

  it('shows only the last 24 hours unless dateFrom is given', async () => {
    add(missedCall(options()));
    wait(24 * 3600 + 1);
    expect((await getJson('CallLogResponse', `${root}/call-log`)).records).toEqual([]);
    const path = `${root}/call-log?dateFrom=2026-03-04T00:00:00Z`;
    expect((await getJson('CallLogResponse', path)).records).toHaveLength(1);
  });

  it('pages by navigation.nextPage, newest first', async () => {
    for (const number of [1, 2, 3]) {
      add(missedCall(options(number)));
      wait(60);
    }
    wait(60);
    const seen: string[] = [];
    let next: string | undefined = `${root}/call-log?perPage=2`;
    while (next) {
      const page: { records: { id: string }[]; navigation: { nextPage?: { uri: string } } } = await getJson(
        'CallLogResponse',
        next,
      );
      seen.push(...page.records.map(({ id }) => id));
      next = page.navigation.nextPage?.uri;
    }
    expect(seen).toEqual(['Q900100x00003', 'Q900100x00002', 'Q900100x00001']);
  });

  it('refuses more than 1000 a page', async () => {
    expect((await get(`${root}/call-log?perPage=1001`)).status).toBe(400);
  });

  it('answers several ids with 207 and a part each', async () => {
    add(missedCall(options()));
    wait(60);
    const answer = await get(`${root}/call-log/Q900100x00001,Q0?view=Detailed`, {
      accept: 'application/vnd.ringcentral.multipart+json',
    });
    expect(answer.status).toBe(207);
    const parts = await readJson(answer);
    expect(parts.map(({ status }: { status: number }) => status)).toEqual([200, 404]);
    expect(schemaErrors('CallLogRecord', parts[0].body)).toEqual([]);
    const tooMany = Array.from({ length: 51 }, (_, n) => `Q${n}`).join(',');
    expect((await get(`${root}/call-log/${tooMany}`)).status).toBe(400);
  });

  it('shows an extension its own calls only; `~` is the owner of the JWT', async () => {
    const transfer = add(transferCall(options()));
    wait(3600);
    const own = await getJson('CallLogResponse', `${root}/extension/~/call-log`);
    expect(own.records).toHaveLength(1);
    for (const record of transfer.records) {
      for (const leg of [record, ...record.legs]) {
        leg.extensionId = '900100299';
        leg.to = { extensionId: '900100299' };
      }
    }
    expect((await getJson('CallLogResponse', `${root}/extension/~/call-log`)).records).toEqual([]);
    const other = await getJson('CallLogResponse', `${root}/extension/900100299/call-log`);
    expect(other.records).toHaveLength(1);
  });
});

describe('media', () => {
  it.each(['mp3', 'wav'] as const)(
    'serves a %s whole, once it is ready, until it is deleted',
    async (format) => {
      const call = add(answeredCall({ ...options(), format, talkSeconds: 40, recordingDelaySeconds: 60 }));
      const contentPath = `/media/restapi/v1.0/account/${accountId}/recording/${call.recordings[0]?.id}/content`;
      wait(100);
      expect((await get(contentPath)).status).toBe(404);
      wait(10);
      const answer = await get(contentPath);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get('content-type')).toBe(format === 'mp3' ? 'audio/mpeg' : 'audio/wav');
      expect(bytes.length).toBe(Number(answer.headers.get('content-length')));
      expect(bytes.subarray(0, 4)).toEqual(
        format === 'mp3' ? Buffer.from([0xff, 0xfb, 0x90, 0x00]) : Buffer.from('RIFF'),
      );
      await getJson('GetCallRecordingResponse', `${root}/recording/${call.recordings[0]?.id}`);
      for (const recording of call.recordings) recording.deleted = true;
      expect((await get(contentPath)).status).toBe(404);
    },
  );

  it('has voicemails: detail, sound, and a transcript once it is there', async () => {
    const call = add(voicemailCall({ ...options(), transcript: 'Please call me back.' }));
    wait(22 + 27 + 20);
    const { records } = await getJson('CallLogResponse', `${root}/call-log`);
    const pending = await getJson('GetSingleMessageInfoResponse', records[0].message.uri);
    expect(pending.vmTranscriptionStatus).toBe('InProgress');
    expect(pending.attachments).toHaveLength(1);
    wait(60);
    const done = await getJson('GetSingleMessageInfoResponse', records[0].message.uri);
    expect(done.vmTranscriptionStatus).toBe('Completed');
    const [sound, text] = done.attachments;
    expect(await (await get(text.uri)).text()).toBe('Please call me back.');
    expect((await (await get(sound.uri)).arrayBuffer()).byteLength).toBe(sound.size);
    const list = await getJson('GetMessageList', `${root}/extension/~/message-store?messageType=VoiceMail`);
    expect(list.records).toHaveLength(1);
    for (const voicemail of call.voicemails) voicemail.availability = 'Purged';
    const purged = await getJson('GetSingleMessageInfoResponse', records[0].message.uri);
    expect(purged.attachments).toEqual([]);
  });
});
