import { localAccount } from '../assembly/template.ts';
import type { StartRequest } from './request.ts';
import type { Utterance } from './speech.ts';

const secondsPerWord = 0.3;
const pauseSeconds = 0.5;

interface Item {
  type: 'pronunciation' | 'punctuation';
  alternatives: { confidence: string; content: string }[];
  start_time?: string;
  end_time?: string;
  channel_label?: string;
  speaker_label?: string;
}

interface Spoken {
  speaker: 0 | 1;
  from: number;
  to: number;
  items: Item[];
}

/**
 * A transcript as Transcribe writes it for a batch job, all values as texts
 * (https://docs.aws.amazon.com/transcribe/latest/dg/how-input.html#how-output).
 *
 * @param channels of the recording; with one, both people are on it
 */
export function buildTranscript(
  request: Pick<StartRequest, 'TranscriptionJobName' | 'Settings'>,
  speech: readonly Utterance[],
  { channels, redacted }: { channels: 1 | 2; redacted: boolean },
) {
  const { ChannelIdentification, ShowSpeakerLabels } = request.Settings;
  const label = ({ speaker }: Pick<Spoken, 'speaker'>): Partial<Item> => ({
    ...(ChannelIdentification ? { channel_label: channelOf(speaker, channels) } : {}),
    ...(ShowSpeakerLabels ? { speaker_label: `spk_${speaker}` } : {}),
  });
  const spoken = speak(speech, redacted);
  const items = spoken.flatMap((part) => part.items.map((item) => ({ ...item, ...label(part) })));
  return {
    jobName: request.TranscriptionJobName,
    accountId: localAccount,
    ...(redacted ? { isRedacted: true } : {}),
    status: 'COMPLETED',
    results: {
      transcripts: [{ transcript: spoken.map(({ items: own }) => textOf(own)).join(' ') }],
      ...(ChannelIdentification ? { channel_labels: channelLabels(items, channels) } : {}),
      ...(ShowSpeakerLabels ? { speaker_labels: speakerLabels(spoken) } : {}),
      items,
    },
  };
}

const channelOf = (speaker: number, channels: 1 | 2) => `ch_${channels === 2 ? speaker : 0}`;
const seconds = (value: number) => value.toFixed(2);

function speak(speech: readonly Utterance[], redacted: boolean): Spoken[] {
  let at = pauseSeconds;
  return speech.map(({ speaker, text }) => {
    const from = at;
    const items = wordsOf(text, redacted).flatMap((word): Item[] => {
      const [, content = word, mark] = /^(.+?)([.,?!])?$/.exec(word) ?? [];
      const start = at;
      at += secondsPerWord;
      return [
        {
          type: 'pronunciation',
          alternatives: [{ confidence: '0.98', content }],
          start_time: seconds(start),
          end_time: seconds(at),
        },
        ...(mark
          ? [{ type: 'punctuation' as const, alternatives: [{ confidence: '0.0', content: mark }] }]
          : []),
      ];
    });
    const to = at;
    at += pauseSeconds;
    return { speaker, from, to, items };
  });
}

/** What is personal becomes one `[PII]`. */
function wordsOf(text: string, redacted: boolean): string[] {
  const plain = text.replaceAll(/\{[A-Z]+:([^}]*)\}/g, (_, personal: string) =>
    redacted ? '[PII]' : personal,
  );
  return plain.split(' ').filter(Boolean);
}

function textOf(items: readonly Item[]): string {
  return items.reduce((text, { type, alternatives }) => {
    const content = alternatives[0]?.content ?? '';
    return type === 'punctuation' || text === '' ? `${text}${content}` : `${text} ${content}`;
  }, '');
}

function channelLabels(items: readonly Item[], channels: 1 | 2) {
  const labels = Array.from({ length: channels }, (_, channel) => `ch_${channel}`);
  return {
    channels: labels.map((label) => ({
      channel_label: label,
      items: items.filter(({ channel_label }) => channel_label === label),
    })),
    number_of_channels: channels,
  };
}

function speakerLabels(spoken: readonly Spoken[]) {
  return {
    channel_label: 'ch_0',
    speakers: new Set(spoken.map(({ speaker }) => speaker)).size,
    segments: spoken.map(({ speaker, from, to, items }) => ({
      start_time: seconds(from),
      end_time: seconds(to),
      speaker_label: `spk_${speaker}`,
      items: items.flatMap(({ start_time, end_time }) =>
        start_time && end_time ? [{ start_time, end_time, speaker_label: `spk_${speaker}` }] : [],
      ),
    })),
  };
}
