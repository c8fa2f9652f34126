import { labelOf } from './labels.ts';
import { cellsOf } from './pairs.ts';

const personal = new Set(['firstName', 'lastName', 'fullName', 'email', 'phone']);

/**
 * A table with a heading row (`Name | Phone | Email`) and one row a person, rewritten as one block of
 * `label\tvalue` lines a row, so that several people show as repeated labels.
 */
export function unfoldColumnTables(lines: readonly string[]): string[] {
  const unfolded: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const headings = cellsOf(lines[index] ?? '');
    let next = index + 1;
    if (isHeadingRow(headings)) {
      for (; next < lines.length; next++) {
        const row = lines[next] ?? '';
        const cells = cellsOf(row);
        if (isRuler(row)) continue;
        if (cells.length !== headings.length || labelOf(cells[0] ?? '')) break;
        unfolded.push('', ...cells.map((cell, column) => `${headings[column]}\t${cell}`));
      }
    }
    if (unfolded.length > 0 && next > index + 1) {
      unfolded.push('');
      index = next - 1;
    } else {
      unfolded.push(lines[index] ?? '');
    }
  }
  return unfolded;
}

function isHeadingRow(cells: readonly string[]): boolean {
  if (cells.length < 2 || cells.some((cell) => cell.length > 40 || /[@\d:]/.test(cell))) return false;
  return cells.filter((cell) => personal.has(labelOf(cell)?.kind ?? '')).length >= 2;
}

/** `|---|:--|` below a heading row. */
function isRuler(row: string): boolean {
  return /^[\s|:+=-]+$/.test(row) && row.includes('-');
}
