/** What one measurement has to say: printed as Markdown, so that it can be kept as it is. */
export interface Report {
  title: string;
  /** What the numbers mean, one line each. */
  notes: string[];
  columns: string[];
  rows: string[][];
}

export function toMarkdown({ title, notes, columns, rows }: Report): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [`## ${title}`, '', ...notes, '', line(columns), line(rule), ...rows.map(line), ''].join('\n');
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}

/** Median of `values[i] / reference[i]`: each pair was measured under the same load. */
export function ratio(values: readonly number[], reference: readonly number[]): string {
  return `${median(values.map((value, index) => value / (reference[index] ?? Number.NaN))).toFixed(2)}×`;
}
