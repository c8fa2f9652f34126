import { cutText } from '../clean-text.ts';
import { type Label, labelOf, normaliseLabel } from './labels.ts';

/** A label and what stands beside or below it. `label` is undefined for labels that we don't know. */
export interface Pair {
  label?: Label;
  key: string;
  value: string;
}

/** One line, read: its pairs, and how many lines after it belong to them. */
export interface ReadLine {
  pairs: Pair[];
  consumed: number;
}

const maxValue = 1000;
/** Emoji, bullets, numbering, quotation marks of replies, `#` and `*` before a label. */
const decoration = /^(?:[^\p{L}\p{N}(+"'\t]+|\d{1,2}[.)]\s+(?=\p{L}))+/u;
/** A colon between two digits belongs to a time of day. */
const colonPair = /^([^:：]{1,80}?)\s*(?:(?<!\d)[:：]|[:：](?!\d))\s*(.*)$/s;

/** Ways to set a known label beside its value without a colon. */
const shapes: readonly { pattern: RegExp; kinds?: readonly string[] }[] = [
  { pattern: /^(\S.{0,60}?)(?:\s+(?:[-=|»→⇒➔]|=>|->|\.{2,})>?\s+|-\s+|\s*[–—]\s*)(\S.*)$/s },
  { pattern: /^(\S.{0,60}?) {2,}(\S.*)$/s },
  { pattern: /^([\w-]{2,40})=(.*)$/s },
  { pattern: /^(\S.{2,60}?\?)\s+(\S.*)$/s, kinds: ['firstName', 'lastName', 'fullName', 'phone', 'email'] },
  { pattern: /^([^\]]{1,60})\]\s*(\S.*)$/s },
  { pattern: /^((?:\p{L}[\p{L}.#-]*\s){1,3})\s*([+(\d].*|[^\s@]+@[^\s@]+)$/su, kinds: ['phone', 'email'] },
  {
    pattern: /^((?:\p{L}+\s)?[Nn](?:ame|AME)\s)\s*(\p{Lu}\S*(?:\s\p{Lu}\S*){0,2})$/u,
    kinds: ['firstName', 'lastName', 'fullName'],
  },
];

/**
 * Reads the pairs that begin on `lines[index]`. `stacked` tells that values stand below their labels here, so
 * that a name may be one blank line away; elsewhere a label without value is an empty field.
 */
export function readLine(lines: readonly string[], index: number, stacked: boolean): ReadLine {
  const line = lines[index] ?? '';
  const cells = cellsOf(line);
  if (cells.length > 1) return { pairs: readCells(cells), consumed: 0 };
  const pairs = readParts(strip(line));
  const last = pairs.at(-1);
  if (last?.label === undefined || last.value !== '') return { pairs, consumed: 0 };
  const isName = /^(first|last|full)Name$/.test(last.label.kind);
  const below = valueBelow(lines, index, isName && !stacked ? 1 : 2);
  return { pairs: [...pairs.slice(0, -1), { ...last, value: below.value }], consumed: below.consumed };
}

/** Whether most labels of these lines have no value beside them. */
export function isStacked(lines: readonly string[]): boolean {
  let lone = 0;
  let beside = 0;
  for (const line of lines) {
    const pair = line.includes('\t') ? undefined : readPart(strip(line));
    if (pair?.label && pair.value === '') lone += 1;
    else if (pair?.label) beside += 1;
  }
  return lone > beside;
}

/** Whether a line is a known label or begins with one: such a line is never the value of the label above. */
export function isFieldLine(line: string): boolean {
  return readPart(strip(cellsOf(line)[0] ?? ''))?.label !== undefined;
}

/** A row's cells: parted by tabs (HTML tables, as html-lines.ts renders them) or by bars. */
export function cellsOf(line: string): string[] {
  const bars = line.includes('\t') ? undefined : line.replace(/^[\s>]*\||\|\s*$/g, '');
  return (bars === undefined ? line.split('\t') : bars.split('|')).map((cell) => cell.trim());
}

function strip(line: string): string {
  return line.replace(decoration, '').trimEnd();
}

/** All pairs on one line of text. */
function readParts(text: string): Pair[] {
  return splitAtLabels(text).flatMap((part) => readPart(part) ?? []);
}

/** `label: value`, a lone label, or one of the other shapes; a label that we don't know needs its colon. */
function readPart(text: string): Pair | undefined {
  const [, before = '', after = ''] = colonPair.exec(text) ?? [];
  const beside = before !== '' && isLabelLike(before) ? toPair(before, after) : undefined;
  if (beside?.label) return beside;
  const lone = labelOf(text);
  if (lone) return { label: lone, key: lone.key, value: '' };
  for (const { pattern, kinds } of shapes) {
    const [, name = '', value = ''] = pattern.exec(text) ?? [];
    const pair = name === '' ? undefined : toPair(name, value);
    if (pair?.label && (kinds === undefined || kinds.includes(pair.label.kind))) return pair;
  }
  return beside;
}

function toPair(name: string, value: string): Pair {
  const label = labelOf(name);
  return { ...(label && { label }), key: label?.key ?? normaliseLabel(name), value: tidyValue(value) };
}

function isLabelLike(text: string): boolean {
  return /\p{L}/u.test(text) && !/:\/\/|@/.test(text) && text.split(/\s+/).length <= 12;
}

function tidyValue(text: string): string {
  const end = /[\s/|;•·]+$/;
  return cutText(text, maxValue).replace(end, '').trim();
}

/** The value of a lone label: the next line, unless that is a label itself or an explicitly empty cell. */
function valueBelow(
  lines: readonly string[],
  index: number,
  reach: number,
): { value: string; consumed: number } {
  for (let next = index + 1; next <= index + reach && next < lines.length; next++) {
    const line = lines[next] ?? '';
    if (line === '') continue;
    if (line.trim() === '' || cellsOf(line).length > 1 || readPart(strip(line))) break;
    return { value: tidyValue(line), consumed: next - index };
  }
  return { value: '', consumed: 0 };
}

const headings = /^(name|field|field name|label|question|key|item)$/;
const valueHeadings = /^(value|values|answer|answers|response|details|your answer|submission|entry)$/;

/** A table row: label beside value, once or several times; a `Name | Value` heading says nothing. */
function readCells(cells: readonly string[]): Pair[] {
  const [first = '', second = ''] = cells.map(normaliseLabel);
  if (headings.test(first) && valueHeadings.test(second)) return [];
  const pairs: Pair[] = [];
  let index = 0;
  while (index < cells.length) {
    const cell = strip(cells[index] ?? '');
    const here = cell === '' ? [] : readParts(cell);
    const open = here.at(-1);
    if (open ? open.value === '' : cell !== '' && pairs.length === 0 && namesNext(cells, index)) {
      const spacer = /^[:：=–-]?$/.test(cells[index + 1] ?? ' ') && cells[index + 2] !== undefined ? 1 : 0;
      const value = (cells[index + 1 + spacer] ?? '').replace(/^[:：\-–]\s*/, '');
      pairs.push(...here.slice(0, -1), { ...(open ?? toPair(cell, '')), value: tidyValue(value) });
      index += 2 + spacer;
    } else {
      const before = pairs.at(-1);
      // `Class: Nov 7, 2026 | 9:15 AM`: day and time in cells of their own.
      if (here.length === 0 && before?.label && /^booking/.test(before.label.kind))
        before.value += ` ${cell}`;
      pairs.push(...here);
      index += 1;
    }
  }
  return pairs;
}

/** In front, a label that we don't know still owns the next cell, unless that is a field itself. */
function namesNext(cells: readonly string[], index: number): boolean {
  return index + 1 < cells.length && !isFieldLine(cells[index + 1] ?? '');
}

/**
 * One line with several labelled values (`Full name: … Phone: … Email: …`, also what format=flowed joins):
 * cut before each known label. A message is never cut: its words are the sender's own.
 */
function splitAtLabels(line: string): string[] {
  const cuts = [0];
  let labels = 0;
  let from = 0;
  for (const { index } of line.matchAll(/[:：]/g)) {
    const start = labelStart(line, from, index);
    from = index + 1;
    if (start === undefined) continue;
    labels += 1;
    if (start > 0) cuts.push(start);
    if (labelOf(line.slice(start, index))?.kind === 'message' || cuts.length > 40) break;
  }
  if (labels < 2) return [line];
  return cuts.map((cut, number) => strip(line.slice(cut, cuts[number + 1]))).filter((part) => part !== '');
}

/** Words begin after what is no letter, and inside text whose line breaks were lost: `AnaLast Name`. */
const wordStart = /(?<!\p{L})[\p{L}#]|(?<=[\p{Ll}\p{N}])\p{Lu}/gu;

/** Where the longest known label that ends at `end` begins, a few words back. */
function labelStart(line: string, from: number, end: number): number | undefined {
  const offset = Math.max(from, end - 80);
  const text = line.slice(offset, end);
  const starts = [...text.matchAll(wordStart)].map((match) => match.index).slice(-8);
  const start = starts.find((position) => labelOf(text.slice(position)) !== undefined);
  return start === undefined ? undefined : offset + start;
}
