/** What a media file's first bytes say of it. */
export interface Sound {
  format: 'mp3' | 'wav';
  channels: 1 | 2;
}

/** Enough to know the format and the channels. */
export const soundHeaderBytes = 4096;

/** @returns undefined for what is no sound, or of a kind that isn't known here */
export function readSound(bytes: Buffer): Sound | undefined {
  if (
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
    bytes.subarray(8, 12).toString('latin1') === 'WAVE'
  ) {
    return { format: 'wav', channels: bytes.length >= 24 && bytes.readUInt16LE(22) === 1 ? 1 : 2 };
  }
  const frame = bytes.subarray(0, 3).toString('latin1') === 'ID3' ? firstFrameAfterTag(bytes) : 0;
  const [sync, version, , mode] = bytes.subarray(frame, frame + 4);
  if (sync !== 0xff || version === undefined || (version & 0xe0) !== 0xe0) return undefined;
  // Both bits set: single channel (ISO/IEC 11172-3, 2.4.2.3).
  return { format: 'mp3', channels: mode !== undefined && mode >> 6 === 3 ? 1 : 2 };
}

/** An ID3 tag's length has seven bits a byte. */
function firstFrameAfterTag(bytes: Buffer): number {
  const length = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + length;
}
