import * as z from 'zod';
import type { TranscriptSegment } from '../db/schema/index.ts';

/** Who speaks on a channel. */
export type ChannelRole = TranscriptSegment['role'];

export interface Transcript {
  /** What was said, in the order of time; empty when nobody spoke. */
  text: string;
  segments: TranscriptSegment[];
  speakerBasis: 'channel' | 'speaker_label' | 'none';
}

/** A word or a punctuation mark, which has no time of its own. Numbers come as text, seconds. */
const itemSchema = z.object({
  type: z.string(),
  start_time: z.coerce.number().optional(),
  end_time: z.coerce.number().optional(),
  channel_label: z.string().optional(),
  speaker_label: z.string().optional(),
  alternatives: z.array(z.object({ content: z.string() })),
});
type Item = z.infer<typeof itemSchema>;

/**
 * Of Amazon Transcribe's result only what every kind of job has: its items
 * (https://docs.aws.amazon.com/transcribe/latest/dg/how-input.html, and the example outputs of channel
 * identification and of diarization).
 */
const resultSchema = z.object({ results: z.object({ items: z.array(itemSchema) }) });

/** Silence that ends a segment. */
const pauseMs = 1_500;

/**
 * Reads a result file. Each channel is cut where its speaker pauses or changes; all segments then stand in the
 * order of time, so that a stereo recording reads as a conversation.
 *
 * @param roles of the channels, left first: ch_0 and ch_1
 * @returns undefined for what is no such file
 */
export function readTranscript(
  json: string,
  roles: readonly [ChannelRole, ChannelRole],
): Transcript | undefined {
  const parsed = resultSchema.safeParse(jsonOf(json));
  if (!parsed.success) return undefined;
  const { items } = parsed.data.results;
  const channels = [...byChannel(items)];
  const isTwice = channels.length > 1 && isSameOnAll(channels.map(([, own]) => own));
  const isStereo = !isTwice && items.some(({ channel_label }) => channel_label !== undefined);
  const segments = (isTwice ? channels.slice(0, 1) : channels)
    .flatMap(([channel, own]) =>
      segmentsOf(own, (item) =>
        isStereo
          ? { role: roles[channel === 'ch_1' ? 1 : 0], speaker: channel }
          : { role: 'unknown', speaker: item.speaker_label ?? channel },
      ),
    )
    .sort((a, b) => a.startMs - b.startMs);
  return {
    text: segments.map(({ text }) => text).join('\n'),
    segments,
    speakerBasis: isStereo ? 'channel' : basisOf(items),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The file may have one channel after the other, or both mixed; within a channel the order is that of speech. */
function byChannel(items: readonly Item[]): Map<string, Item[]> {
  const channels = new Map<string, Item[]>();
  for (const item of items) {
    const channel = item.channel_label ?? 'ch_0';
    const own = channels.get(channel);
    if (own) own.push(item);
    else channels.set(channel, [item]);
  }
  return channels;
}

const contentOf = ({ alternatives }: Item) => alternatives[0]?.content ?? '';

/** A stereo file of a mono sound has everything twice, and no channel tells who speaks. */
function isSameOnAll(channels: readonly Item[][]): boolean {
  const [first, ...others] = channels.map((items) => items.map(contentOf).join(' '));
  return others.every((text) => text === first);
}

const basisOf = (items: readonly Item[]) =>
  items.some(({ speaker_label }) => speaker_label !== undefined) ? 'speaker_label' : 'none';

type Speaker = Pick<TranscriptSegment, 'role' | 'speaker'>;

function segmentsOf(items: readonly Item[], speakerOf: (item: Item) => Speaker): TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  for (const item of items) {
    const last = segments.at(-1);
    if (item.type === 'punctuation' || item.start_time === undefined) {
      if (last) last.text += contentOf(item);
      continue;
    }
    const startMs = Math.round(item.start_time * 1000);
    const endMs = Math.round((item.end_time ?? item.start_time) * 1000);
    const speaker = speakerOf(item);
    if (last && last.speaker === speaker.speaker && startMs - last.endMs <= pauseMs) {
      last.text += ` ${contentOf(item)}`;
      last.endMs = endMs;
    } else {
      segments.push({ ...speaker, startMs, endMs, text: contentOf(item) });
    }
  }
  return segments;
}
