import { Readable } from 'node:stream';
import { channelsOf } from './audio-channels.ts';
import type { RetryReason } from './errors.ts';

export type AudioFormat = 'mp3' | 'wav';

/** Sound on its way: to be piped on, never held whole. */
export interface AudioContent {
  format: AudioFormat;
  /** For S3 and Transcribe: `audio/mpeg` or `audio/wav`, whatever spelling RingCentral used. */
  contentType: string;
  /** 2 where the header says so; a header that isn't understood counts as mono. */
  channels: 1 | 2;
  /** Bytes announced by Content-Length, if it was. */
  bytes?: number;
  /** Fails with IncompleteContentError when it ends before `bytes`, and on a cut connection or the deadline. */
  stream: Readable;
}

/** Content that ended too early. What was read of it must not be kept. */
export class IncompleteContentError extends Error {
  override name = 'IncompleteContentError';
}

const audioContentTypes: Record<AudioFormat, string> = { mp3: 'audio/mpeg', wav: 'audio/wav' };
const formatsByType: Record<string, AudioFormat> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
};
/** Beyond a tag or other chunks that may come before the header. */
const sniffedBytes = 2 ** 16;

/**
 * Opens a 200's body as sound. The format is the header's; the first bytes overrule it when they show another
 * one, and decide when it is vague. Empty bodies, JSON and HTML are no sound.
 */
export async function openAudio(response: Response): Promise<AudioContent | RetryReason> {
  if (response.status !== 200 || !response.body) return 'incomplete_content';
  const source = Readable.fromWeb(response.body)[Symbol.asyncIterator]();
  const start = await readStart(source);
  if (start.length === 0) return 'incomplete_content';

  const format = formatOf(response.headers.get('content-type'), start);
  if (!format) {
    await source.return?.();
    return 'not_audio';
  }
  // Of a body that was compressed on its way, the header counts other bytes than we read.
  const length = response.headers.has('content-encoding') ? null : response.headers.get('content-length');
  const bytes = length === null ? undefined : Number(length);
  return {
    format,
    contentType: audioContentTypes[format],
    channels: channelsOf(format, start) ?? 1,
    ...(bytes === undefined ? {} : { bytes }),
    stream: Readable.from(wholeContent(start, source, bytes), { objectMode: false }),
  };
}

/** Enough to tell the format and the channels by; empty when the connection is cut or the deadline passes before that. */
async function readStart(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  try {
    while (start.length < sniffedBytes) {
      const next = await source.next();
      if (next.done) break;
      start = Buffer.concat([start, next.value]);
    }
    return start;
  } catch {
    return Buffer.alloc(0);
  }
}

async function* wholeContent(start: Buffer, rest: AsyncIterator<Uint8Array>, bytes: number | undefined) {
  let read = start.length;
  try {
    yield start;
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      read += next.value.length;
      yield next.value;
    }
  } finally {
    // Whoever destroys the stream also ends the download.
    await rest.return?.();
  }
  if (bytes !== undefined && read !== bytes) {
    throw new IncompleteContentError(`Content ended after ${read} of ${bytes} bytes`);
  }
}

/** @param contentType as the header has it: with parameters, vague, or null */
export function formatOf(contentType: string | null, start: Buffer): AudioFormat | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return sniff(start) ?? (looksLikeText(start) ? undefined : formatsByType[type]);
}

function sniff(start: Buffer): AudioFormat | undefined {
  const ascii = start.toString('latin1');
  if (ascii.startsWith('RIFF') && ascii.slice(8, 12) === 'WAVE') return 'wav';
  if (ascii.startsWith('ID3')) return 'mp3';
  // An MPEG frame begins with eleven set bits.
  return start[0] === 0xff && ((start[1] ?? 0) & 0xe0) === 0xe0 ? 'mp3' : undefined;
}

const looksLikeText = (start: Buffer) => /^\s*[{[<]/.test(start.toString('latin1'));
