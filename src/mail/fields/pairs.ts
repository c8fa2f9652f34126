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

const maxLine = 4000;
const maxValue = 1000;
/** Emoji, bullets, numbering, quotation marks of replies, `#` and `*` before a label. */
const decoration = /^(?:[^\p{L}\p{N}(+"'\t]+|\d{1,2}[.)]\s+(?=\p{L}))+/u;
/** A colon between two digits belongs to a time of day. */
const colonPair = /^([^:：]{1,80}?)\s*(?:(?<!\d)[:：]|[:：](?!\d))\s*(.*)$/s;
const dashPair = /^(\S.{0,60}?)\s+(?:[-–—=|»]|=>|->|\.{2,})>?\s+(\S.*)$/s;
const gapPair = /^(\S.{0,60}?) {2,}(\S.*)$/s;
const barePair = /^((?:\p{L}[\p{L}.#-]*\s){1,3})\s*([+(\d].*|\S+@\S+)$/su;

/**
 * Reads the pairs that begin on `lines[index]`. `stacked` tells that values stand below their labels here, so
 * that a name may be one blank line away; elsewhere a label without value is an empty field.
 */
export function readLine(lines: readonly string[], index: number, stacked: boolean): ReadLine {
  const line = (lines[index] ?? '').slice(0, maxLine);
  if (line.includes('\t'))
    return { pairs: readCells(line.split('\t').map((cell) => cell.trim())), consumed: 0 };
  const parts = splitAtLabels(strip(line));
  const pairs = parts.map(readPart).filter((pair) => pair !== undefined);
  const last = pairs.at(-1);
  if (last?.label === undefined || last.value !== '') return { pairs, consumed: 0 };
  const isName =
    last.label.kind === 'firstName' || last.label.kind === 'lastName' || last.label.kind === 'fullName';
  const below = valueBelow(lines, index, isName && !stacked ? 1 : 2);
  return { pairs: [...pairs.slice(0, -1), { ...last, value: below.value }], consumed: below.consumed };
}

/** Whether most labels of these lines have no value beside them. */
export function isStacked(lines: readonly string[]): boolean {
  let lone = 0;
  let beside = 0;
  for (const line of lines) {
    const pair = line.includes('\t') ? undefined : readPart(strip(line.slice(0, maxLine)));
    if (pair?.label && pair.value === '') lone += 1;
    else if (pair?.label) beside += 1;
  }
  return lone > beside;
}

/** A row's cells: parted by tabs (HTML tables, as html-lines.ts renders them) or by bars. */
export function cellsOf(line: string): string[] {
  if (line.includes('\t')) return line.split('\t').map((cell) => cell.trim());
  if (!line.includes('|')) return [line];
  return line
    .replace(/^[\s>]*\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}

function strip(line: string): string {
  return line.replace(decoration, '').trimEnd();
}

/** Whether a line is a known label or begins with one: such a line is never the value of the label above. */
export function isFieldLine(line: string): boolean {
  const text = strip(line.slice(0, maxLine));
  const [first = ''] = text.split('\t');
  return readPart(first)?.label !== undefined;
}

/** `label: value`, `label - value`, `label   value`, `Phone (212) …`, or a lone label; unknown ones with colon only. */
function readPart(text: string): Pair | undefined {
  const [, before = '', after = ''] = colonPair.exec(text) ?? [];
  const beside = before !== '' && isLabelLike(before) ? labelled(before, after) : undefined;
  if (beside?.label) return beside;
  const lone = labelOf(text);
  if (lone) return { label: lone, key: lone.key, value: '' };
  for (const shape of [dashPair, gapPair, barePair]) {
    const [, name = '', value = ''] = shape.exec(text) ?? [];
    const { label, ...pair } = labelled(name, value);
    if (label && (shape !== barePair || label.kind === 'phone' || label.kind === 'email'))
      return { label, ...pair };
  }
  return beside;
}

function labelled(name: string, value: string): Pair {
  const label = name === '' ? undefined : labelOf(name);
  return { ...(label && { label }), key: label?.key ?? normaliseLabel(name), value: tidyValue(value) };
}

function isLabelLike(text: string): boolean {
  return /\p{L}/u.test(text) && !/:\/\/|@/.test(text) && text.split(/\s+/).length <= 12;
}

function tidyValue(text: string): string {
  return text
    .slice(0, maxValue)
    .replace(/[\s/|;•·]+$/, '')
    .trim();
}

/** The value of a lone label: the next line, unless that is a label itself or an explicitly empty cell. */
function valueBelow(
  lines: readonly string[],
  index: number,
  reach: number,
): { value: string; consumed: number } {
  for (let next = index + 1; next <= index + reach && next < lines.length; next++) {
    const line = (lines[next] ?? '').slice(0, maxLine);
    if (line === '') continue;
    if (line.trim() === '' || line.includes('\t') || isFieldLine(line) || readPart(strip(line))) break;
    return { value: tidyValue(line), consumed: next - index };
  }
  return { value: '', consumed: 0 };
}

const headings = /^(name|field|field name|label|question|key|item)$/;
const valueHeadings = /^(value|values|answer|answers|response|details|your answer|submission|entry)$/;

/** A table row: label beside value, once or several times; a `Name | Value` heading says nothing. */
function readCells(cells: string[]): Pair[] {
  if (headings.test(normaliseLabel(cells[0] ?? '')) && valueHeadings.test(normaliseLabel(cells[1] ?? '')))
    return [];
  const pairs: Pair[] = [];
  for (let index = 0; index < cells.length; index++) {
    const cell = strip(cells[index] ?? '');
    if (cell === '') continue;
    const label = labelOf(cell);
    const isFirst = pairs.length === 0;
    const namesNext = isFirst && index + 1 < cells.length && !isFieldLine(cells[index + 1] ?? '');
    if (label || (namesNext && !readPart(cell))) {
      const spacer = cells[index + 1] === '' && cells[index + 2] !== undefined ? 1 : 0;
      const value = cells[index + 1 + spacer] ?? '';
      pairs.push({
        ...(label && { label }),
        key: normaliseLabel(cell),
        value: tidyValue(value.replace(/^[:：\-–]\s*/, '')),
      });
      index += 1 + spacer;
    } else {
      for (const part of splitAtLabels(cell)) {
        const pair = readPart(part);
        if (pair?.value !== '' && pair) pairs.push(pair);
        else if (pair) {
          const value = cells[index + 1] ?? '';
          pairs.push({ ...pair, value: tidyValue(value) });
          index += 1;
        }
      }
    }
  }
  return pairs;
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
    const label = labelOf(line.slice(start, index));
    labels += 1;
    if (start > 0) cuts.push(start);
    if (label?.kind === 'message' || cuts.length > 40) break;
  }
  if (labels < 2) return [line];
  return cuts.map((cut, number) => strip(line.slice(cut, cuts[number + 1]))).filter((part) => part !== '');
}

/** Where the longest known label that ends at `end` begins, at most six words back. */
function labelStart(line: string, from: number, end: number): number | undefined {
  const text = line.slice(Math.max(from, end - 80), end);
  const offset = end - text.length;
  const starts = [...text.matchAll(/[\p{L}#][^\s/|,;•]*/gu)].map((match) => match.index).slice(-6);
  const start = starts.find((position) => labelOf(text.slice(position)) !== undefined);
  return start === undefined ? undefined : offset + start;
}
