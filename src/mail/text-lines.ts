import { cutText } from './clean-text.ts';
import { htmlToLines } from './html-lines.ts';
import type { SourceBody } from './source-mail.ts';

/** Text beyond this is not read for fields: lead lines come first. */
const maxText = 200_000;
const maxLines = 5000;
/** No label and value are longer; what patterns cost can grow with the square of a line. */
const maxLine = 4000;
/** A form's HTML template sent under the wrong type. */
const markup = /<(?:br|p|div|td|tr|table|b|strong|li|span)\b[^<>]{0,200}>/i;
const htmlDocument = /<(?:html|table|body)\b/i;

/** A body as lines: HTML rendered, also where it stands in plain text or in an attachment. Long ones are cut. */
export function bodyToLines(body: SourceBody): { kind: SourceBody['kind']; lines: string[] } {
  const { kind, lines } = render(body);
  return { kind, lines: lines.slice(0, maxLines).map((line) => cutText(line, maxLine)) };
}

function render({ kind, text }: SourceBody): { kind: SourceBody['kind']; lines: string[] } {
  if (kind === 'html' || (kind === 'attachment' && htmlDocument.test(text.slice(0, 5000)))) {
    return { kind: 'html', lines: htmlToLines(text) };
  }
  const start = cutText(text, maxText);
  if (markup.test(start)) return { kind: 'html', lines: htmlToLines(start.replace(/\n/g, '<br>')) };
  return { kind, lines: textToLines(start) };
}

/** Plain text as lines without indentation; runs of tabs are one, since some forms align values with them. */
function textToLines(text: string): string[] {
  return text.split('\n').map((line) =>
    line
      .replace(/\u00a0/g, ' ')
      .replace(/\t+/g, '\t')
      .trim(),
  );
}
