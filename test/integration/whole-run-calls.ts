import { describe, expect, it } from 'vitest';
import type { QueryName } from '../../lib/queries.ts';
import { type QueryResult, unknownFields } from '../support/logs-insights.ts';
import { type CallName, lost } from '../support/troubled-calls.ts';
import type { runThroughTroubles, Surroundings } from '../support/troubled-run.ts';

const callNames: CallName[] = [
  'normal',
  'missed',
  'voicemail',
  'forbidden',
  'cutShort',
  'longVoicemail',
  'refused',
  'exhausted',
  'notWritten',
  'withoutWebhook',
];

const accounts = { ofBoth: '400131426008', ofProd: '400255317009', unwatched: '900000000001' };

/**
 * What the whole run shows of calls: part of whole-run.test.ts, whose one run it looks at.
 *
 * @param ask runs a saved query over the run's log lines
 */
export function describeCalls(
  run: () => Awaited<ReturnType<typeof runThroughTroubles>>,
  ask: (name: QueryName, subject?: string) => QueryResult,
): void {
  const idOf = (name: CallName) => run().calls.idOf(name);

  describe('the saved queries on calls, on what the functions logged', () => {
    it('where-is-this-call: from the webhook to the transcript', () => {
      const way = ask('where-is-this-call', idOf('normal')).rows;
      const steps = way.map(({ service, message, api_surface, http_status }) =>
        [service, message, api_surface, http_status].filter((part) => part !== undefined).join(' '),
      );
      const inOrder = [
        'webhook-receiver webhook.accepted',
        'transcribe-processor call.event_recorded',
        'transcribe-processor recording.stored',
        'transcribe-processor transcription.started',
        // Nobody told of the job's end.
        'call-sweep transcription.completed',
      ];
      expect(steps).toEqual(expect.arrayContaining(inOrder));
      expect(inOrder.toSorted((a, b) => steps.lastIndexOf(a) - steps.lastIndexOf(b))).toEqual(inOrder);
      expect(steps).toContain('transcribe-processor ringcentral.request_completed recording_content 200');
      const all = callNames.map((name) => ask('where-is-this-call', idOf(name)));
      expect(
        unknownFields({ asked: all[0]?.asked ?? [], matched: all.flatMap(({ matched }) => matched) }),
      ).toEqual([]);
    });

    it('refused-webhooks: how many, and why', () => {
      const result = ask('refused-webhooks');
      expect(result.rows).toEqual([
        {
          account_id: accounts.ofBoth,
          message: 'webhook.refused',
          http_status: 401,
          reason: 'wrong_secret',
          error_code: undefined,
          webhooks: 1,
        },
      ]);
    });

    it('parked-calls: the step and the bucket that calls wait for', () => {
      const result = ask('parked-calls');
      expect(result.rows).toContainEqual(
        expect.objectContaining({ account_id: accounts.ofProd, rate_limit_group: 'heavy' }),
      );
      expect(unknownFields(result)).toEqual([]);
    });

    it('ringcentral-requests: each surface with its ends', () => {
      const result = ask('ringcentral-requests');
      const ends = result.rows.map(
        ({ account_id, api_surface, http_status }) => `${account_id} ${api_surface} ${http_status}`,
      );
      expect(ends).toEqual(
        expect.arrayContaining([
          `${accounts.ofBoth} oauth_token 200`,
          `${accounts.ofBoth} account_call_log 200`,
          `${accounts.ofBoth} account_call_log 403`,
          `${accounts.ofBoth} extension_call_log 200`,
          `${accounts.ofBoth} recording_content 200`,
          `${accounts.ofBoth} voicemail_message_detail 200`,
          `${accounts.ofProd} account_call_log 429`,
          `${accounts.unwatched} account_call_log 429`,
        ]),
      );
      expect(unknownFields(result)).toEqual([]);
    });

    it('recording-readiness: when the API had the recording', () => {
      const result = ask('recording-readiness', idOf('normal'));
      expect(result.rows.at(0)).toMatchObject({ api_has_recording: 1, api_recording_id: '55003010' });
      expect(result.rows.at(-1)).toMatchObject({ call_log_input: 'prefetched' });
      expect(unknownFields(result)).toEqual([]);
    });

    it('rate-limit-redrives and 429s-by-account: each refusal, and what it led to', () => {
      const redrives = ask('rate-limit-redrives');
      const told = redrives.rows.map(({ account_id, message }) => `${account_id} ${message}`);
      expect(told).toEqual([
        `${accounts.ofProd} ringcentral.rate_limited`,
        `${accounts.ofProd} ringcentral.redrive_scheduled`,
        `${accounts.ofProd} ringcentral.redrive_acknowledged`,
        `${accounts.unwatched} ringcentral.rate_limited`,
        `${accounts.unwatched} ringcentral.redrive_exhausted`,
      ]);
      expect(unknownFields(redrives)).toEqual([]);
      const refusals = ask('429s-by-account');
      expect(
        refusals.rows.map(({ account_id, rate_limit_group, refusals: times }) => [
          account_id,
          rate_limit_group,
          times,
        ]),
      ).toEqual([
        [accounts.ofProd, 'heavy', 1],
        [accounts.unwatched, 'heavy', 1],
      ]);
      expect(unknownFields(refusals)).toEqual([]);
    });

    it('calls-without-recording: how many, and why', () => {
      const result = ask('calls-without-recording');
      const common = { account_id: accounts.ofBoth, recording_status: 'none', reason: 'not_connected' };
      expect(result.rows).toEqual([{ ...common, calls: expect.any(Number) }]);
      const sessions = new Set(result.matched.map(({ telephony_session_id }) => telephony_session_id));
      const expected = (['missed', 'voicemail', 'longVoicemail'] as const).map(idOf);
      expect([...sessions].toSorted()).toEqual(expected.toSorted());
      expect(unknownFields(result)).toEqual([]);
    });
  });

  describe('what became of the calls', () => {
    it('half of the sound is not kept; a lost job is started anew', async () => {
      const bucket = run().stage.buckets.plans.find(({ name }) => name.startsWith('prod-'))?.name ?? '';
      const keys = await run().stage.buckets.keys(bucket);
      expect(keys.filter((key) => /55003050|66003110/.test(key))).toEqual([]);
      const transcripts = await run().prod.database.query(
        'select source, source_id, speaker_basis from transcripts',
      );
      for (const [source, source_id] of Object.entries(lost)) {
        expect(transcripts).toContainEqual({ source, source_id, speaker_basis: 'speaker_label' });
      }
      expect(transcripts.filter(({ source }) => source === 'voicemail')).toHaveLength(2);
    });

    it('the sweep finds a call whose webhooks were lost, and subscribes', async () => {
      const [found] = await run().prod.database.query(
        'select last_sequence, recording_status, store_id from calls where telephony_session_id = $1',
        [idOf('withoutWebhook')],
      );
      expect(found).toMatchObject({ last_sequence: '-1', recording_status: 'stored' });
      const created = run()
        .records(['call-sweep'])
        .filter(({ message }) => message === 'subscription.created');
      expect(created.map(({ account_id }) => account_id).toSorted()).toEqual(
        [accounts.ofBoth, accounts.ofProd].toSorted(),
      );
    });
  });

  describe('both stages in one account', () => {
    const sessionsOf = async (around: Surroundings) =>
      (await around.database.query('select telephony_session_id from calls')).map(
        (row) => row.telephony_session_id,
      );

    it('a call of test is in test alone: rows, queue, sound and transcript', async () => {
      const inTest = idOf('inTest');
      expect(await sessionsOf(run().test)).toEqual([inTest]);
      expect(await sessionsOf(run().prod)).not.toContain(inTest);
      expect(
        run()
          .records()
          .filter(({ telephony_session_id }) => telephony_session_id === inTest),
      ).toEqual([]);
      const keysOf = async (stageName: string) => {
        const bucket =
          run().stage.buckets.plans.find(({ name }) => name.startsWith(`${stageName}-`))?.name ?? '';
        return run().stage.buckets.keys(bucket);
      };
      expect(await keysOf('test')).toHaveLength(2);
      for (const key of await keysOf('test')) expect(key).toContain('55003080');
      for (const key of await keysOf('prod')) expect(key).not.toContain('55003080');
    });

    it('a job’s end goes to the stage that began it', () => {
      const ends = run().stage.buses.records.filter(({ event }) => event.source === 'aws.transcribe');
      expect(ends.length).toBeGreaterThan(3);
      for (const { event, deliveries } of ends) {
        const { TranscriptionJobName: name } = event.detail as { TranscriptionJobName: string };
        const rule = name.startsWith('test-')
          ? 'TranscriptionRule-test-us-west-2'
          : 'TranscriptionRule-us-west-2';
        expect(deliveries).toEqual([expect.objectContaining({ rule, outcome: 'delivered' })]);
      }
    });

    it('the leads of prod come to test too, and none the other way', async () => {
      const leadsOf = async ({ database }: Surroundings) =>
        (await database.query('select id from leads')).map(({ id }) => id);
      expect(await leadsOf(run().test)).toEqual(
        expect.arrayContaining([expect.stringContaining('normal@x.example')]),
      );
      const lines = run().records(undefined, 'test');
      const services = new Set(lines.flatMap(({ deployment }) => deployment ?? []));
      expect([...services]).toEqual(['test']);
    });
  });
}
