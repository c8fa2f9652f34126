import { Readable } from 'node:stream';

/** Sound of a given length, made while it is read, so that a recording of 90 minutes needs no memory. */
export interface Audio {
  format: 'mp3' | 'wav';
  seconds: number;
}

const wavBytesPerSecond = 8000 * 2 * 2;
const mp3FrameBytes = 417;
const mp3FramesPerSecond = 44_100 / 1152;

/** Content-Length of the whole file. */
export function audioBytes({ format, seconds }: Audio): number {
  return format === 'wav'
    ? 44 + Math.round(seconds) * wavBytesPerSecond
    : Math.max(1, Math.round(seconds * mp3FramesPerSecond)) * mp3FrameBytes;
}

/** Telephone sound as RingCentral records it: stereo 8 kHz PCM, or MPEG frames at 128 kbit/s. Silence. */
export function audioStream(audio: Audio): Readable {
  return Readable.from(audio.format === 'wav' ? wavChunks(audio) : mp3Chunks(audio));
}

function* wavChunks(audio: Audio): Generator<Buffer> {
  const dataBytes = audioBytes(audio) - 44;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(wavBytesPerSecond, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  yield header;
  const second = Buffer.alloc(wavBytesPerSecond);
  for (let sent = 0; sent < dataBytes; sent += second.length) yield second;
}

function* mp3Chunks(audio: Audio): Generator<Buffer> {
  const frame = Buffer.alloc(mp3FrameBytes);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  const batch = Buffer.concat(Array<Buffer>(39).fill(frame));
  let left = audioBytes(audio);
  while (left > 0) {
    yield left >= batch.length ? batch : batch.subarray(0, left);
    left -= batch.length;
  }
}
