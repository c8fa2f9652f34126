/** C0 and C1 controls but tab and line feed: Postgres refuses NUL, terminals and logs obey the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks without width or with a direction: an address copied with one is another address. */
const invisible = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const lineBreaks = /\r\n?|[\u0085\u2028\u2029]/g;

/** Text that Postgres (text and jsonb) takes: line feeds only, no control characters, no lone surrogates. */
export function cleanText(text: string): string {
  return withoutInvisible(text.replace(lineBreaks, '\n').replace(controls, '')).toWellFormed();
}

/** HTML entities can stand for such marks too. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '');
}

/** `cleanText` on one line: an encoded word can carry CR LF, which would start a new header or log line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** Cuts at `max` UTF-16 units without leaving half a surrogate pair. */
export function cutText(text: string, max: number): string {
  return text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, '') : text;
}
