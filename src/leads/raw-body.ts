/** leads.raw_body holds at most this much of a mail's text, in bytes of UTF-8; the mailbox is the archive. */
export const rawBodyLimitBytes = 256 * 1024;

/**
 * Cuts a text to at most `limit` bytes of UTF-8, never inside a character.
 *
 * @param limit in bytes
 */
export function cutToBytes(text: string, limit: number): { text: string; truncated: boolean } {
  if (text.length * 3 <= limit) return { text, truncated: false };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return { text, truncated: false };
  let end = limit;
  // 10xxxxxx is the inside of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.subarray(0, end).toString('utf8'), truncated: true };
}
