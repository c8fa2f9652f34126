import { describe, expect, it } from 'vitest';
import { readSnapshot } from '../../src/calls/read-snapshot.ts';
import { aRecord, aRecording, aSnapshot, aVoicemail } from './snapshots.ts';

const read = (...records: Parameters<typeof aRecord>[0][]) =>
  readSnapshot(aSnapshot(records.map(aRecord)), false);

describe('recordings', () => {
  it('of records and legs, once each, by their start', () => {
    const findings = read(
      {
        recording: aRecording('5512'),
        legs: [
          { startTime: '2026-03-04T15:21:00.000Z', recording: aRecording('5513') },
          { startTime: '2026-03-04T15:20:00.000Z', recording: aRecording('5512') },
        ],
      },
      { id: 'Qx8', startTime: '2026-03-04T15:19:00.000Z', recording: aRecording('5511') },
    );
    expect(findings.recordings.map(({ recordingId }) => recordingId)).toEqual(['5511', '5512', '5513']);
    expect(findings).toMatchObject({ recordingStatus: 'available', recordingReason: null, unprepared: 0 });
  });

  it('one that has no address yet is awaited, not available', () => {
    expect(read({ recording: { id: '5512' } })).toMatchObject({
      recordings: [],
      unprepared: 1,
      recordingStatus: 'pending',
    });
    expect(read({ duration: 9, recording: { id: '5512' } })).toMatchObject({ recordingStatus: 'pending' });
  });

  it('the ready one of two is available, and the other is counted', () => {
    const legs = [{ recording: { id: '5513' } }];
    expect(read({ recording: aRecording('5512'), legs })).toMatchObject({
      recordings: [{ recordingId: '5512' }],
      unprepared: 1,
      recordingStatus: 'available',
    });
  });
});

describe('without a recording', () => {
  const statusOf = (findings: ReturnType<typeof readSnapshot>) => [
    findings.recordingStatus,
    findings.recordingReason,
  ];

  it.each([
    [{ result: 'Missed' }, 'none', 'not_connected'],
    [{ result: 'ABANDONED' }, 'none', 'not_connected'],
    [{ result: 'Voicemail' }, 'none', 'not_connected'],
    [{ duration: 29 }, 'none', 'short_call'],
    [{ duration: 0 }, 'none', 'short_call'],
    [{ durationMs: 29_999, duration: 30 }, 'none', 'short_call'],
    [{ duration: 30 }, 'pending', null],
    [{ result: 'Something new' }, 'pending', null],
    [{ result: undefined }, 'pending', null],
    [{ duration: undefined }, 'pending', null],
    [{ shortRecording: true, duration: 90 }, 'too_short', 'short_recording'],
    [{ deleted: true }, 'deleted', 'call_deleted'],
    [{ type: 'Fax' }, 'none', 'fax'],
    [{ type: 'fax', action: 'Incoming Fax' }, 'none', 'fax'],
  ])('%o: %s, %s', (record, status, reason) => {
    expect(statusOf(read(record))).toEqual([status, reason]);
  });

  it('one connected conversation among missed ones is waited for', () => {
    expect(statusOf(read({ result: 'Missed' }, { id: 'Qx8', result: 'Call connected' }))).toEqual([
      'pending',
      null,
    ]);
  });

  it('short ones together are short', () => {
    expect(statusOf(read({ duration: 20 }, { id: 'Qx8', duration: 20 }))).toEqual(['none', 'short_call']);
  });

  it('a short recording on a leg counts', () => {
    expect(statusOf(read({ legs: [{ shortRecording: true }] }))[0]).toBe('too_short');
    const shortLeg = { shortRecording: true, duration: 12, result: 'Accepted' };
    const longLeg = { duration: 120, result: 'Accepted' };
    // A transfer: the second conversation may have a recording yet.
    expect(statusOf(read({ legs: [shortLeg, longLeg] }))[0]).toBe('pending');
    expect(statusOf(read({ legs: [shortLeg, { ...longLeg, duration: 20 }] }))[0]).toBe('too_short');
    expect(statusOf(read({ legs: [shortLeg, { ...longLeg, result: 'Missed' }] }))[0]).toBe('too_short');
    expect(statusOf(read({ shortRecording: true, duration: 90, legs: [longLeg] }))[0]).toBe('too_short');
  });

  it('a conversation beside a part that was too short may have a recording yet', () => {
    const short = { shortRecording: true, duration: 12, result: 'Accepted' };
    const long = { duration: 120, result: 'Accepted' };
    const ofLegs = (...legs: object[]) => statusOf(read({ legs }))[0];
    expect(ofLegs(short, long)).toBe('pending');
    expect(ofLegs(short, { ...long, duration: 20 })).toBe('too_short');
    expect(ofLegs(short, { ...long, result: 'Missed' })).toBe('too_short');
    expect(statusOf(read({ ...short, id: 'Qx8' }, long))[0]).toBe('pending');
    // The record's own word counts where its legs say nothing.
    expect(statusOf(read({ ...short, legs: [long] }))[0]).toBe('too_short');
  });

  it('what a webhook named is waited for, whatever the log says of the talk', () => {
    for (const record of [{ duration: 9 }, { result: 'Missed' }]) {
      const findings = readSnapshot(aSnapshot([aRecord(record)]), true);
      expect(statusOf(findings)).toEqual(['pending', null]);
    }
  });

  it('but not what was too short, or deleted', () => {
    const expected = (record: object) => readSnapshot(aSnapshot([aRecord({ ...record })]), true);
    expect(expected({ shortRecording: true }).recordingStatus).toBe('too_short');
    expect(expected({ deleted: true }).recordingStatus).toBe('deleted');
  });

  it('an extension that saw a missed call does not speak for the others', () => {
    const snapshot = aSnapshot([aRecord({ result: 'Missed' })], { coverage: 'extension' });
    expect(statusOf(readSnapshot(snapshot, false))).toEqual(['pending', null]);
  });
});

describe('the call', () => {
  it('is In Progress when any of its records is', () => {
    expect(read({}).inProgress).toBe(false);
    expect(read({}, { id: 'Qx8', result: 'in progress' }).inProgress).toBe(true);
  });

  it('is known by the record that connected longest', () => {
    expect(
      read(
        { id: 'a', result: 'Missed', duration: 900 },
        { id: 'b', result: 'Accepted', durationMs: 60_500 },
        { id: 'c', result: 'Call connected', duration: 61 },
      ),
    ).toMatchObject({ result: 'Call connected', durationMs: 61_000 });
  });

  it('or by the first one when none did', () => {
    expect(
      read(
        { id: 'b', result: 'Missed', duration: 20 },
        { id: 'a', result: 'Busy', duration: 5, startTime: '2026-03-04T15:19:00.000Z' },
      ),
    ).toMatchObject({ result: 'Busy', durationMs: 5000 });
  });
});

describe('voicemails', () => {
  it('are those that records and legs name, once each', () => {
    const findings = read({
      result: 'Voicemail',
      message: aVoicemail('6644001'),
      legs: [{ message: aVoicemail('6644001') }, { message: aVoicemail('6644009') }],
    });
    expect(findings.voicemails.map(({ messageId }) => messageId)).toEqual(['6644001', '6644009']);
  });

  it('not a fax, nor a message without an address', () => {
    expect(read({ message: { id: '1', type: 'Fax', uri: 'https://x' } }).voicemails).toEqual([]);
    expect(read({ message: { id: '1', type: 'VoiceMail' } }).voicemails).toEqual([]);
    expect(read({ type: 'Fax', message: aVoicemail('6644001') }).voicemails).toEqual([]);
  });
});
