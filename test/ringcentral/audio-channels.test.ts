import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audioStream } from '../../local/ringcentral/audio.ts';
import { channelsOf } from '../../src/ringcentral/audio-channels.ts';

/** A RIFF chunk, with the zero byte that follows one of odd size. */
function chunk(id: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

function wav(channels: number, before: Buffer[] = []): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(8000, 4);
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), ...before, chunk('fmt ', format)]);
}

/** MPEG frame headers with every value that isn't reserved (ISO/IEC 11172-3, 2.4.2.3). */
const frame = fc
  .record({
    version: fc.constantFrom(0, 2, 3),
    layer: fc.integer({ min: 1, max: 3 }),
    crc: fc.integer({ min: 0, max: 1 }),
    bitRate: fc.integer({ min: 0, max: 14 }),
    sampleRate: fc.integer({ min: 0, max: 2 }),
    padding: fc.integer({ min: 0, max: 3 }),
    mode: fc.integer({ min: 0, max: 3 }),
    rest: fc.integer({ min: 0, max: 63 }),
  })
  .map(({ version, layer, crc, bitRate, sampleRate, padding, mode, rest }) => ({
    mode,
    bytes: Buffer.from([
      0xff,
      0xe0 | (version << 3) | (layer << 1) | crc,
      (bitRate << 4) | (sampleRate << 2) | padding,
      (mode << 6) | rest,
    ]),
  }));

/** An ID3v2.4 tag: its length has seven bits a byte, without the header of ten bytes. */
const tag = fc
  .record({ body: fc.uint8Array({ maxLength: 5_000 }), footer: fc.boolean() })
  .map(({ body, footer }) => {
    const size = [21, 14, 7, 0].map((shift) => (body.length >> shift) & 0x7f);
    const head = Buffer.from([0x49, 0x44, 0x33, 4, 0, footer ? 0x10 : 0, ...size]);
    return Buffer.concat([head, body, Buffer.alloc(footer ? 10 : 0)]);
  });

const filler = fc
  .tuple(fc.constantFrom('JUNK', 'bext', 'LIST', 'fact'), fc.uint8Array({ maxLength: 1_500 }))
  .map(([id, body]) => chunk(id, body));

describe('channelsOf', () => {
  it('reads a WAV`s format, whatever comes before it', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 2), fc.array(filler, { maxLength: 4 }), (channels, before) => {
        expect(channelsOf('wav', wav(channels, before))).toBe(channels);
      }),
    );
  });

  it('reads an MP3`s first frame, behind a tag or without', () => {
    fc.assert(
      fc.property(fc.option(tag), fc.integer({ min: 0, max: 30 }), frame, (id3, zeros, { mode, bytes }) => {
        const file = Buffer.concat([id3 ?? Buffer.alloc(0), Buffer.alloc(zeros), bytes]);
        expect(channelsOf('mp3', file)).toBe(mode === 3 ? 1 : 2);
      }),
    );
  });

  it('knows nothing of a header that isn`t there yet, nor of more than two channels', () => {
    expect(channelsOf('wav', wav(6))).toBeUndefined();
    expect(channelsOf('wav', wav(2).subarray(0, 20))).toBeUndefined();
    expect(channelsOf('mp3', Buffer.from([0xff, 0xfb, 0x90]))).toBeUndefined();
    // The tag is longer than what was read.
    expect(channelsOf('mp3', Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 0, 0xff, 0xfb, 0x90, 0]))).toBe(
      undefined,
    );
  });

  it('ends and throws nothing on any bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom('mp3', 'wav'), fc.uint8Array({ maxLength: 300 }), (format, bytes) => {
        expect([1, 2, undefined]).toContain(channelsOf(format, Buffer.from(bytes)));
      }),
    );
  });

  it.each(['mp3', 'wav'] as const)('finds the simulated telephone`s %s stereo', async (format) => {
    const [first] = await audioStream({ format, seconds: 1 }).toArray();
    expect(channelsOf(format, first)).toBe(2);
  });
});
