import { Parser } from 'htmlparser2';
import { cutText, withoutInvisible } from './clean-text.ts';
import { labelOf } from './fields/labels.ts';
import { isFieldLine } from './fields/pairs.ts';

/** HTML beyond this is not read: lead lines come first, and what is larger is a newsletter or an attack. */
const maxHtml = 500_000;
/** Layout tables nest a few levels; deeper cells are read as plain blocks. */
const maxCellDepth = 30;
/** No mail nests deeper; each further level costs the parser more than the one before. */
const maxDepth = 2000;
const chunkSize = 16_384;
/** What a line holds beyond this is not read. */
const maxLine = 5000;

const neverShown = new Set(['script', 'style', 'title', 'template']);
const paragraphTags = new Set(
  'p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote hr pre fieldset section article header footer'.split(' '),
);
const lineTags = new Set(
  'div li tr dt dd address center form caption legend tbody thead tfoot option td th'.split(' '),
);
const boldTags = new Set(['b', 'strong', 'label', 'dt']);
const tableTags = new Set(['tr', 'td', 'th']);
const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i;

/**
 * HTML as lines of text: table cells of one row parted by a tab, blank lines between paragraphs, what is not
 * displayed left out. An empty cell stays visible (`Label\t`, or a lone tab), so that a label without value
 * doesn't take the next line for it. Time is linear in the size.
 */
export function htmlToLines(html: string): string[] {
  const source = protectAddresses(cutText(html, maxHtml));
  const lines = new HtmlLines(hidden).read(source);
  // A mail whose only content is hidden (a preview text, a broken style) is still better than none.
  return lines.some((line) => line.trim() !== '') ? lines : new HtmlLines(() => false).read(source);
}

/** The same without what is displayed as quoted. */
export function unquotedHtmlToLines(html: string): string[] {
  const source = protectAddresses(cutText(html, maxHtml));
  return new HtmlLines((name, attributes) => name === 'blockquote' || hidden(name, attributes)).read(source);
}

/** Whether an element is left out with all that stands in it. */
type LeaveOut = (name: string, attributes: Record<string, string>) => boolean;

const hidden: LeaveOut = (name, attributes) =>
  name === 'head' || 'hidden' in attributes || hiddenStyle.test(attributes.style ?? '');

/** `Ana <ana@x.example>` unescaped would be read as a tag and lost. */
function protectAddresses(html: string): string {
  return html.replace(/<([^<>\s"'=/@]{1,64}@[^<>\s"'=@]{1,255})>/g, '&lt;$1&gt;');
}

class HtmlLines {
  readonly #leaveOut: LeaveOut;
  /** One list of lines a table cell that is open, the document's own at the bottom. */
  readonly #sinks: string[][] = [[]];
  readonly #rows: string[][][] = [];
  /** Of each open tr, td and th: whether it opened a row or a cell here, or stands where none can be. */
  readonly #tableTags: boolean[] = [];
  #line = '';
  #depth = 0;
  #skipDepth = 0;
  #boldDepth = 0;
  #labelStands = false;
  /** The last thing was the end of an inline element: what opens now may be the value beside a label. */
  #justClosed = false;
  #preformatted = 0;
  readonly #links: { href: string; start: number }[] = [];

  constructor(leaveOut: LeaveOut) {
    this.#leaveOut = leaveOut;
  }

  read(html: string): string[] {
    const parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      ontext: (text) => this.#text(text),
      onclosetag: (name) => this.#close(name),
    });
    for (let at = 0; at < html.length && this.#depth <= maxDepth; at += chunkSize) {
      parser.write(html.slice(at, at + chunkSize));
    }
    parser.end();
    this.#endLine();
    return trimBlank(this.#sinks[0] ?? []);
  }

  #open(name: string, attributes: Record<string, string>): void {
    this.#depth += 1;
    if (this.#skipDepth > 0 || neverShown.has(name) || this.#leaveOut(name, attributes)) {
      this.#skipDepth += 1;
      return;
    }
    const continuesTerm = name === 'dd' && this.#labelStands;
    if (name === 'br') this.#break();
    else if (paragraphTags.has(name)) this.#paragraph();
    else if (lineTags.has(name) && !continuesTerm) this.#endLine();
    else if (this.#justClosed && isStandingLabel(this.#line)) this.#labelStands = true;
    if (tableTags.has(name)) this.#tableTags.push(this.#openTableTag(name));
    if (name === 'pre') this.#preformatted += 1;
    if (boldTags.has(name) && (this.#boldDepth > 0 || this.#line.trim() === '')) this.#boldDepth += 1;
    if (name === 'a') this.#links.push({ href: attributes.href ?? '', start: this.#line.length });
  }

  /** Rows and cells alternate: each open row but the innermost has one open cell. */
  #openTableTag(name: string): boolean {
    const inRow = this.#rows.length === this.#sinks.length;
    if (this.#sinks.length > maxCellDepth || inRow === (name === 'tr')) return false;
    if (name === 'tr') this.#rows.push([]);
    else this.#sinks.push([]);
    return true;
  }

  #close(name: string): void {
    this.#depth -= 1;
    if (this.#skipDepth > 0) {
      this.#skipDepth -= 1;
      return;
    }
    if (name === 'a') this.#closeLink();
    if (boldTags.has(name) && this.#boldDepth > 0) {
      this.#boldDepth -= 1;
      if (this.#boldDepth === 0) this.#labelStands = name === 'dt' || isStandingLabel(this.#line);
    }
    if (name === 'pre') this.#preformatted -= 1;
    this.#justClosed = true;
    if (name === 'dt') return;
    if (name === 'dd' && this.#labelStands) this.#separate();
    if (paragraphTags.has(name)) this.#paragraph();
    else if (lineTags.has(name)) this.#endLine();
    if (tableTags.has(name) && this.#tableTags.pop()) {
      if (name === 'tr') this.#closeRow();
      else this.#closeCell();
    }
  }

  #text(text: string): void {
    if (this.#skipDepth > 0) return;
    if (this.#preformatted > 0) {
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) this.#break();
        this.#append(part);
      }
    } else {
      this.#append(text);
    }
  }

  #append(text: string): void {
    if (this.#line.length > maxLine) return;
    const collapsed = withoutInvisible(text).replace(/[\s\u00a0\u200c]+/g, ' ');
    if (collapsed === '') return;
    if (collapsed.trim() === '') {
      if (this.#line !== '' && !this.#line.endsWith(' ')) this.#line += ' ';
      return;
    }
    if (this.#labelStands && this.#boldDepth === 0) this.#separate();
    this.#justClosed = false;
    const apart = this.#line === '' || this.#line.endsWith(' ') || this.#line.endsWith('\t');
    this.#line += cutText(apart ? collapsed.trimStart() : collapsed, maxLine);
  }

  /** A label in bold (or a dt) has no colon: a tab parts it from its value. */
  #separate(): void {
    this.#labelStands = false;
    const label = this.#line.trimEnd();
    this.#line = /[:：]$/.test(label) ? `${label} ` : `${label}\t`;
  }

  #break(): void {
    const blank = this.#line.trim() === '';
    this.#endLine();
    if (blank) this.#blankLine();
  }

  #endLine(): void {
    const line = this.#line.replace(/^ +| +$/g, '');
    if (line !== '') this.#sink().push(line);
    this.#line = '';
    this.#labelStands = false;
  }

  #paragraph(): void {
    this.#endLine();
    this.#blankLine();
  }

  #blankLine(): void {
    if (this.#sink().at(-1) !== '') this.#sink().push('');
  }

  #sink(): string[] {
    return this.#sinks.at(-1) ?? [];
  }

  #closeCell(): void {
    this.#endLine();
    const lines = trimBlank(this.#sinks.pop() ?? []);
    this.#rows.at(-1)?.push(lines);
  }

  #closeRow(): void {
    for (const line of rowLines(this.#rows.pop() ?? [])) {
      if (line !== '' || this.#sink().at(-1) !== '') this.#sink().push(line);
    }
  }

  /** `<a href="mailto:…">Write to Ana</a>`: the address is only in the link. */
  #closeLink(): void {
    const link = this.#links.pop();
    if (!link) return;
    const text = this.#line.slice(link.start);
    const [, scheme = '', target = ''] = /^(mailto|tel):([^?]{3,200})/i.exec(link.href.trim()) ?? [];
    const shown = scheme.toLowerCase() === 'tel' ? /\d.*\d.*\d.*\d/.test(text) : text.includes('@');
    if (target !== '' && !shown && labelOf(text) === undefined) this.#append(` ${decode(target)}`);
  }
}

/** A label that no colon needs to part from what follows: "Contact" alone may begin a sentence. */
function isStandingLabel(line: string): boolean {
  const label = labelOf(line);
  return label !== undefined && (label.kind !== 'fullName' || label.key.includes('name'));
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** One row: single lines are joined by tabs; a label keeps a value of several lines; layout cells follow each other. */
function rowLines(cells: string[][]): string[] {
  const filled = cells.filter((lines) => lines.length > 0);
  if (filled.length === 0) return ['\t'];
  const single = filled.every((lines) => lines.length === 1 && !lines[0]?.includes('\t'));
  if (single) return cells.length === 1 ? (filled[0] ?? []) : [joinCells(cells.map(([line = '']) => line))];
  const [labels = [], values = []] = filled;
  if (filled.length === 2 && !values.some(isFieldLine)) {
    if (labels.length === 1 && labelOf(labels[0] ?? ''))
      return [`${labels[0]}\t${values.filter(Boolean).join(' ').replaceAll('\t', ' ')}`];
    const parallel = labels.length === values.length && labels.every((line) => line !== '' && labelOf(line));
    if (parallel) return labels.map((label, index) => `${label}\t${values[index]}`);
  }
  return filled.flatMap((lines) => ['', ...lines]).concat('');
}

/** Empty cells in front are layout; one behind a label is its empty value. */
function joinCells(cells: string[]): string {
  const start = cells.findIndex((cell) => cell !== '');
  return cells.slice(start).join('\t');
}

function trimBlank(lines: string[]): string[] {
  let from = 0;
  let to = lines.length;
  while (from < to && lines[from] === '') from += 1;
  while (to > from && lines[to - 1] === '') to -= 1;
  return lines.slice(from, to);
}
