import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTranscript } from '../../local/transcribe/transcript.ts';
import { readTranscript } from '../../src/calls/transcript.ts';

type Label = { channel_label?: string; speaker_label?: string };

/** As Transcribe writes a word: all numbers as text. */
const word = (content: string, start: number, end: number, label: Label = {}) => ({
  type: 'pronunciation',
  start_time: start.toFixed(2),
  end_time: end.toFixed(2),
  alternatives: [{ confidence: '0.99', content }],
  ...label,
});
const mark = (content: string, label: Label = {}) => ({
  type: 'punctuation',
  alternatives: [{ confidence: '0.0', content }],
  ...label,
});
const left = { channel_label: 'ch_0' };
const right = { channel_label: 'ch_1' };

const file = (items: unknown[]) =>
  JSON.stringify({
    jobName: 'prod-rec-5512',
    accountId: '111122223333',
    results: { transcripts: [{ transcript: 'as Amazon has it' }], items },
    status: 'COMPLETED',
  });
const read = (items: unknown[]) => readTranscript(file(items), ['contact', 'agent']);

describe('a stereo recording', () => {
  const ofLeft = [
    word('Hello', 0.5, 0.9, left),
    mark(',', left),
    word('anyone', 1, 1.4, left),
    mark('?', left),
    word('Great', 4.2, 4.6, left),
    mark('.', left),
  ];
  const ofRight = [
    word('Good', 2, 2.3, right),
    word('morning', 2.35, 2.8, right),
    mark('.', right),
    word('How', 3.2, 3.4, right),
    word('are', 3.4, 3.5, right),
    word('you', 3.5, 3.8, right),
    mark('?', right),
  ];
  const conversation = {
    text: 'Hello, anyone?\nGood morning. How are you?\nGreat.',
    speakerBasis: 'channel',
    segments: [
      { role: 'contact', speaker: 'ch_0', startMs: 500, endMs: 1400, text: 'Hello, anyone?' },
      { role: 'agent', speaker: 'ch_1', startMs: 2000, endMs: 3800, text: 'Good morning. How are you?' },
      { role: 'contact', speaker: 'ch_0', startMs: 4200, endMs: 4600, text: 'Great.' },
    ],
  };

  it('reads as a conversation, with one channel after the other in the file', () => {
    expect(read([...ofLeft, ...ofRight])).toEqual(conversation);
  });

  it('reads the same however the channels are mixed', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (choices) => {
        const queues = [[...ofLeft], [...ofRight]];
        const mixed: unknown[] = [];
        while (queues.some((queue) => queue.length > 0)) {
          const takesLeft = choices.next().value;
          const item = queues[takesLeft ? 0 : 1]?.shift();
          if (item) mixed.push(item);
        }
        expect(read(mixed)).toEqual(conversation);
      }),
    );
  });

  it('keeps what two say at the same time apart', () => {
    const both = [word('Yes', 1, 2, left), word('But', 1.2, 1.6, right), word('I', 1.7, 1.8, right)];
    expect(read(both)?.segments.map(({ role, text }) => [role, text])).toEqual([
      ['contact', 'Yes'],
      ['agent', 'But I'],
    ]);
  });

  it('with the same on both sides is told once, and nobody is named', () => {
    const twice = [word('Hello', 1, 2, left), word('Hello', 1, 2, right)];
    expect(read(twice)).toEqual({
      text: 'Hello',
      segments: [{ role: 'unknown', speaker: 'ch_0', startMs: 1000, endMs: 2000, text: 'Hello' }],
      speakerBasis: 'none',
    });
  });

  it('of which one side is silent keeps the other`s role', () => {
    expect(read([word('Hello', 1, 2, right)])).toMatchObject({
      segments: [{ role: 'agent', speaker: 'ch_1' }],
      speakerBasis: 'channel',
    });
  });
});

describe('a mono recording', () => {
  it('has speakers, and no roles', () => {
    const items = [
      word('Hi', 0, 0.4, { speaker_label: 'spk_0' }),
      mark('.', { speaker_label: 'spk_0' }),
      word('Hello', 0.6, 1, { speaker_label: 'spk_1' }),
      word('[PII]', 1.1, 1.5, { speaker_label: 'spk_1' }),
      word('Later', 4, 4.5, { speaker_label: 'spk_1' }),
    ];
    expect(read(items)).toEqual({
      text: 'Hi.\nHello [PII]\nLater',
      speakerBasis: 'speaker_label',
      segments: [
        { role: 'unknown', speaker: 'spk_0', startMs: 0, endMs: 400, text: 'Hi.' },
        { role: 'unknown', speaker: 'spk_1', startMs: 600, endMs: 1500, text: 'Hello [PII]' },
        { role: 'unknown', speaker: 'spk_1', startMs: 4000, endMs: 4500, text: 'Later' },
      ],
    });
  });
});

describe('what the local Transcribe writes', () => {
  const speech = [
    { speaker: 0, text: 'Good afternoon, front desk speaking.' },
    { speaker: 1, text: 'Hello, this is {NAME:Ana Lopez}.' },
  ] as const;

  it.each([
    [2, { ChannelIdentification: true }, 'channel', ['contact', 'agent'], ['ch_0', 'ch_1']],
    [
      1,
      { ShowSpeakerLabels: true, MaxSpeakerLabels: 4 },
      'speaker_label',
      ['unknown', 'unknown'],
      ['spk_0', 'spk_1'],
    ],
  ] as const)('with %i channels is read', (channels, Settings, speakerBasis, roles, speakers) => {
    const request = { TranscriptionJobName: 'prod-rec-5512', Settings };
    const json = JSON.stringify(buildTranscript(request, speech, { channels, redacted: true }));
    const transcript = readTranscript(json, ['contact', 'agent']);
    expect(transcript).toMatchObject({
      speakerBasis,
      text: 'Good afternoon, front desk speaking.\nHello, this is [PII].',
    });
    expect(transcript?.segments.map(({ role }) => role)).toEqual(roles);
    expect(transcript?.segments.map(({ speaker }) => speaker)).toEqual(speakers);
  });
});

describe('other files', () => {
  it('without a word have an empty text', () => {
    expect(read([])).toEqual({ text: '', segments: [], speakerBasis: 'none' });
  });

  it.each(['', 'not JSON', '{}', '{"results":{}}', '{"results":{"items":[{"type":1}]}}'])(
    '%s is none',
    (json) => {
      expect(readTranscript(json, ['contact', 'agent'])).toBeUndefined();
    },
  );

  it('of a 90-minute call are read in a moment', () => {
    const items = Array.from({ length: 14_000 }, (_, index) =>
      word(`word${index}`, index * 0.38, index * 0.38 + 0.3, Math.floor(index / 20) % 2 ? left : right),
    );
    const started = performance.now();
    expect(read(items)?.segments.length).toBe(700);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
