import { htmlToLines } from './html-lines.ts';
import type { SourceBody } from './source-mail.ts';

/** Text beyond this is not read for fields: lead lines come first. */
const maxText = 200_000;
const maxLines = 5000;
/** A form's HTML template sent under the wrong type. */
const markup = /<(?:br|p|div|td|tr|table|b|strong|li|span)\b[^<>]{0,200}>/i;
const htmlDocument = /<(?:html|table|body)\b/i;

/** A body as lines: HTML rendered, also where it stands in plain text or in an attachment. */
export function bodyToLines({ kind, text }: SourceBody): { kind: SourceBody['kind']; lines: string[] } {
  if (kind === 'html' || (kind === 'attachment' && htmlDocument.test(text.slice(0, 5000)))) {
    return { kind: 'html', lines: htmlToLines(text).slice(0, maxLines) };
  }
  const start = text.slice(0, maxText);
  if (markup.test(start))
    return { kind: 'html', lines: htmlToLines(start.replace(/\n/g, '<br>')).slice(0, maxLines) };
  return { kind, lines: textToLines(start).slice(0, maxLines) };
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
