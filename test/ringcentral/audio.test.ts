import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { formatOf, IncompleteContentError, openAudio } from '../../src/ringcentral/audio.ts';

const wav = Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt ');
const mp3 = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0, 0, 0, 0, 0, 0, 0, 0]);
const id3 = Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x00TIT2');
const unknown = Buffer.from([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);

describe('the format of sound', () => {
  it.each([
    ['audio/mpeg', mp3, 'mp3'],
    ['audio/mpeg; charset=utf-8', id3, 'mp3'],
    ['AUDIO/X-WAV', wav, 'wav'],
    ['application/octet-stream', wav, 'wav'],
    ['application/octet-stream', mp3, 'mp3'],
    [null, id3, 'mp3'],
    ['audio/mpeg', wav, 'wav'],
    ['audio/mpeg', unknown, 'mp3'],
    ['application/octet-stream', unknown, undefined],
    [null, unknown, undefined],
    ['audio/mpeg', Buffer.from('{"errorCode":"x"}'), undefined],
    ['audio/wav', Buffer.from('\n <html><body>'), undefined],
    ['text/html', Buffer.from('<!doctype html>'), undefined],
    ['application/json', Buffer.from('{"a":1}      '), undefined],
  ])('%s that begins with %o is %s', (contentType, start, format) => {
    expect(formatOf(contentType, start)).toBe(format);
  });
});

describe('content', () => {
  const answer = (body: Buffer | null, headers: Record<string, string> = {}, status = 200) =>
    new Response(body && new Uint8Array(body), {
      status,
      headers: { 'content-type': 'audio/wav', ...headers },
    });

  it('comes whole, byte for byte', async () => {
    const body = Buffer.concat([wav, Buffer.alloc(100_000, 7)]);
    const audio = await openAudio(answer(body, { 'content-length': String(body.length) }));
    if (typeof audio === 'string') throw new Error(audio);
    expect(audio).toMatchObject({ format: 'wav', contentType: 'audio/wav', bytes: body.length });
    expect(await buffer(audio.stream)).toEqual(body);
  });

  it.each([-1, 1])('that is not as long as announced fails (by %i byte)', async (by) => {
    const audio = await openAudio(answer(wav, { 'content-length': String(wav.length + by) }));
    if (typeof audio === 'string') throw new Error(audio);
    await expect(buffer(audio.stream)).rejects.toThrow(IncompleteContentError);
  });

  it('compressed on its way has a length of its own', async () => {
    const headers = { 'content-length': '5', 'content-encoding': 'gzip' };
    const audio = await openAudio(answer(wav, headers));
    if (typeof audio === 'string') throw new Error(audio);
    expect(audio.bytes).toBeUndefined();
    expect(await buffer(audio.stream)).toEqual(wav);
  });

  it.each([
    ['empty', answer(Buffer.alloc(0)), 'incomplete_content'],
    ['missing', answer(null), 'incomplete_content'],
    ['partial', answer(wav, { 'content-range': 'bytes 0-15/100' }, 206), 'incomplete_content'],
    ['an error in disguise', answer(Buffer.from('{"message":"gone"}')), 'not_audio'],
  ])('that is %s is not opened', async (_, response, reason) => {
    expect(await openAudio(response)).toBe(reason);
  });

  it('that is cut before its format shows is not opened', async () => {
    const cut = new ReadableStream({ start: (controller) => controller.error(new Error('terminated')) });
    expect(await openAudio(new Response(cut, { headers: { 'content-type': 'audio/wav' } }))).toBe(
      'incomplete_content',
    );
  });

  it('is no longer downloaded once its stream is destroyed', async () => {
    let cancelled = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(wav)),
      cancel: () => {
        cancelled = true;
      },
    });
    const audio = await openAudio(new Response(endless, { headers: { 'content-type': 'audio/wav' } }));
    if (typeof audio === 'string') throw new Error(audio);
    audio.stream.on('data', () => audio.stream.destroy());
    await expect.poll(() => cancelled).toBe(true);
  });

  it('may be shorter than what is looked at', async () => {
    const audio = await openAudio(answer(Buffer.from([0xff, 0xfb])));
    if (typeof audio === 'string') throw new Error(audio);
    expect(await buffer(audio.stream)).toEqual(Buffer.from([0xff, 0xfb]));
  });
});
