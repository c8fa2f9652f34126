import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCallFile } from '../../local/calls/call-files.ts';
import { answeredCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import { startSimulator } from '../../local/ringcentral/simulator.ts';

const options = { accountId: '400131426008', number: 1, startedAt: new Date('2026-11-03T14:15:00Z') };
const [setup, ...others] = answeredCall(options).events;
const record = {
  id: 'Q1',
  telephonySessionId: 's-1',
  startTime: '2026-11-03T14:15:00.000Z',
  duration: 75,
  recording: { id: '55', contentUri: 'https://media.ringcentral.com/x' },
  legs: [
    { recording: { id: '56', contentUri: 'https://media.ringcentral.com/y' } },
    { recording: { id: '55' } },
    // Not ready: it has no address.
    { recording: { id: '57' } },
  ],
};

describe('a file of webhook bodies', () => {
  it('one notification, an array, or both with what RingCentral knows', () => {
    const body = { accountId: '400131426008', body: setup };
    expect(readCallFile('a.json', setup)).toEqual({ file: 'a.json', notifications: [body], calls: [] });
    expect(readCallFile('a.json', [setup, ...others]).notifications).toHaveLength(1 + others.length);
    const { notifications, calls } = readCallFile('a.json', { notifications: [setup], callLog: [record] });
    expect(notifications).toEqual([body]);
    expect(calls).toMatchObject([
      {
        accountId: '400131426008',
        telephonySessionId: 's-1',
        endedAt: Date.parse('2026-11-03T14:16:15Z'),
        records: [{ id: 'Q1', raw: record }],
        recordings: [
          { id: '55', audio: { format: 'mp3', seconds: 75 }, contentAt: 0 },
          { id: '56', audio: { format: 'mp3', seconds: 75 }, contentAt: 0 },
        ],
      },
    ]);
  });

  it('the length of a recording and the words of a voicemail can be told', () => {
    const [voicemail] = voicemailCall(options).events;
    const { calls } = readCallFile('a.json', {
      notifications: [voicemail],
      callLog: [
        record,
        {
          ...record,
          id: 'Q2',
          telephonySessionId: 's-2',
          recording: undefined,
          legs: [],
          message: {
            id: 66,
            uri: 'https://platform.ringcentral.com/restapi/v1.0/account/1/extension/77/message-store/66',
          },
        },
      ],
      recordings: [{ id: 55, seconds: 10, format: 'wav' }],
      voicemails: [{ id: '66', transcript: 'Please call me back.' }],
    });
    expect(calls[0]?.recordings[0]).toMatchObject({ id: '55', audio: { format: 'wav', seconds: 10 } });
    expect(calls[1]?.voicemails).toMatchObject([
      { id: 66, extensionId: '77', transcription: 'Completed', transcript: 'Please call me back.' },
    ]);
  });

  it('call-log records alone: a call whose webhooks were lost', () => {
    const { calls, notifications } = readCallFile('a.json', { accountId: 400131426008, callLog: [record] });
    expect([calls.map((call) => call.accountId), notifications]).toEqual([['400131426008'], []]);
  });

  it('another event of an account goes to its path too', () => {
    const reminder = { event: '/restapi/v1.0/account/400131426008/extension/1/presence', body: {} };
    expect(readCallFile('a.json', reminder).notifications).toEqual([
      { accountId: '400131426008', body: reminder },
    ]);
  });

  const partless = { ...setup, body: { ...setup?.body, parties: [] } };
  const ownerless = {
    ...setup,
    body: { ...setup?.body, parties: [{ ...setup?.body.parties[0], accountId: undefined }] },
  };
  it.each<[string, unknown, string]>([
    ['no JSON of ours', 'text', 'a.json: as a whole: Invalid input'],
    ['nothing in it', {}, 'a.json: neither a notification nor a call-log record'],
    ['an unknown field', { notification: [] }, 'a.json: as a whole: Unrecognized key: "notification"'],
    ['a notification without an event', [setup, { body: {} }], 'a.json: 1.event: '],
    ['an event without parties', partless, 'a.json: body.parties: '],
    [
      'a party of no account',
      { notifications: [setup, ownerless] },
      'a.json: notifications.1.body.parties.0.accountId: ',
    ],
    [
      'a record without a time',
      { notifications: [setup], callLog: [{ ...record, startTime: 'noon' }] },
      'a.json: callLog.0.startTime: ',
    ],
    ['records of nobody’s account', { callLog: [record] }, 'a.json: accountId is missing'],
  ])('%s: an error that names file and field', (_, json, message) => {
    expect(() => readCallFile('a.json', json)).toThrow(message);
  });

  it('every example that comes with the product can be read', () => {
    const folder = new URL('../../local/samples/calls/', import.meta.url);
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const json = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
      expect(readCallFile(file, json).notifications.length).toBeGreaterThan(0);
    }
  });
});

describe('RingCentral, of a call that a file tells of', () => {
  it('answers with the file’s record; what it names is to be had here', async () => {
    const { calls } = readCallFile('a.json', { accountId: '400131426008', callLog: [record] });
    const account = {
      accountId: '400131426008',
      clientId: 'c',
      clientSecret: 's',
      jwt: 'j',
      ownerExtensionId: '1',
    };
    const simulator = await startSimulator({ accounts: [account] });
    try {
      simulator.calls.push(...calls);
      const login = await fetch(`${simulator.url}/restapi/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('c:s').toString('base64')}` },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: 'j',
        }),
      });
      const { access_token } = (await login.json()) as { access_token: string };
      const get = (uri: string) => fetch(uri, { headers: { authorization: `Bearer ${access_token}` } });
      const list = await get(
        `${simulator.url}/restapi/v1.0/account/~/call-log?view=Detailed&dateFrom=2026-11-03T00:00:00Z&telephonySessionId=s-1`,
      );
      const { records } = (await list.json()) as { records: (typeof record)[] };
      const contentUri = `${simulator.url}/media/restapi/v1.0/account/400131426008/recording/55/content`;
      expect(records).toMatchObject([
        { ...record, recording: { id: '55', contentUri }, legs: [{}, {}, { recording: { id: '57' } }] },
      ]);
      expect(records[0]?.legs[2]?.recording).not.toHaveProperty('contentUri');
      expect((await get(contentUri)).headers.get('content-type')).toBe('audio/mpeg');
    } finally {
      await simulator.stop();
    }
  });
});
