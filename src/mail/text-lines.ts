import { htmlToLines } from './html-lines.ts';

/** Text beyond this is not read for fields: lead lines come first. */
const maxText = 200_000;
const markup = /<(?:br|p|div|td|tr|table|b|strong|li|span)\b[^<>]{0,200}>/i;

/** Plain text as lines without indentation; runs of tabs are one, since some forms align values with them. */
export function textToLines(text: string): string[] {
  return text
    .slice(0, maxText)
    .split('\n')
    .map((line) =>
      line
        .replace(/\u00a0/g, ' ')
        .replace(/\t+/g, '\t')
        .trim(),
    );
}

/** Lines of plain text that holds HTML (a form's template sent under the wrong type); `undefined` if it doesn't. */
export function markedUpTextToLines(text: string): string[] | undefined {
  const start = text.slice(0, maxText);
  return markup.test(start) ? htmlToLines(start.replace(/\n/g, '<br>')) : undefined;
}
