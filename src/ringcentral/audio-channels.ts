/**
 * How many channels the sound has, by its own header: 2 means that the sides of the call may be told apart.
 * Undefined when the header isn't within these bytes.
 *
 * @param start the file's first bytes
 */
export function channelsOf(format: 'mp3' | 'wav', start: Buffer): 1 | 2 | undefined {
  const channels = format === 'wav' ? wavChannels(start) : mp3Channels(start);
  return channels === 1 || channels === 2 ? channels : undefined;
}

/** RIFF is a list of chunks; other ones may come before `fmt `. A chunk of odd size is followed by a zero byte. */
function wavChannels(start: Buffer): number | undefined {
  for (let offset = 12; offset + 12 <= start.length; ) {
    const size = start.readUInt32LE(offset + 4);
    if (start.toString('latin1', offset, offset + 4) === 'fmt ') return start.readUInt16LE(offset + 10);
    offset += 8 + size + (size % 2);
  }
  return undefined;
}

/** Two bits of the first frame's header: 3 is mono, the others are ways to have two channels. */
function mp3Channels(start: Buffer): number | undefined {
  for (let offset = tagBytes(start); offset + 4 <= start.length; offset += 1) {
    if (isFrameHeader(start.readUInt32BE(offset))) {
      return start.readUInt8(offset + 3) >> 6 === 3 ? 1 : 2;
    }
  }
  return undefined;
}

/** The length of an ID3v2 tag with its header and footer (https://id3.org/id3v2.4.0-structure): four times 7 bits. */
function tagBytes(start: Buffer): number {
  if (start.length < 10 || start.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => (sum << 7) | (start.readUInt8(at) & 0x7f), 0);
  const footer = start.readUInt8(5) & 0x10 ? 10 : 0;
  return 10 + size + footer;
}

/** Eleven set bits, and no reserved value of version, layer, bit rate and sample rate. */
function isFrameHeader(word: number): boolean {
  const bits = (from: number, count: number) => (word >>> (32 - from - count)) & (2 ** count - 1);
  return (
    bits(0, 11) === 0x7ff && bits(11, 2) !== 1 && bits(13, 2) !== 0 && bits(16, 4) !== 15 && bits(20, 2) !== 3
  );
}
