import { cutText } from './clean-text.ts';
import { htmlToLines, unquotedHtmlToLines } from './html-lines.ts';
import type { SourceBody } from './source-mail.ts';

/** Text beyond this is not read for fields: lead lines come first. */
const maxText = 200_000;
const maxLines = 5000;
/** No label and value are longer; what patterns cost can grow with the square of a line. */
const maxLine = 4000;
/** A form's HTML template sent under the wrong type. */
const markup = /<(?:br|p|div|td|tr|table|b|strong|li|span)\b[^<>]{0,200}>/i;
const htmlDocument = /<(?:html|table|body)\b/i;

interface RenderedBody {
  kind: SourceBody['kind'];
  lines: string[];
}

/** A body as lines: HTML rendered, also where it stands in plain text or in an attachment. Long ones are cut. */
export function bodyToLines(body: SourceBody): RenderedBody {
  return render(body, htmlToLines);
}

/** The same without what HTML displays as quoted. */
export function unquotedLines(body: SourceBody): string[] {
  return render(body, unquotedHtmlToLines).lines;
}

function render(body: SourceBody, renderHtml: (html: string) => string[]): RenderedBody {
  const html = htmlOf(body);
  const lines = html === undefined ? textToLines(cutText(body.text, maxText)) : renderHtml(html);
  return {
    kind: html === undefined ? body.kind : 'html',
    lines: lines.slice(0, maxLines).map((line) => cutText(line, maxLine)),
  };
}

function htmlOf({ kind, text }: SourceBody): string | undefined {
  if (kind === 'html' || (kind === 'attachment' && htmlDocument.test(text.slice(0, 5000)))) return text;
  const start = cutText(text, maxText);
  return markup.test(start) ? start.replace(/\n/g, '<br>') : undefined;
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
