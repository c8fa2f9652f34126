/** A log line as Logs Insights sees it: flat, nested names with dots, list elements numbered. */
export type LogRecord = Record<string, string | number>;

export interface QueryResult {
  /** What the query shows. */
  rows: Record<string, string | number | undefined>[];
  /** The records that its filters let through. */
  matched: LogRecord[];
  /** Every field of the lines that the query names. */
  asked: string[];
}

type Value = string | number;
type Test = (record: LogRecord) => boolean;
interface Statistic {
  name: string;
  of(records: LogRecord[]): Value;
}

/** One line of JSON, or undefined where Logs Insights would discover no fields either. */
export function toRecord(line: string, timestamp: Date): LogRecord | undefined {
  try {
    return { '@timestamp': timestamp.toISOString(), ...flatten(JSON.parse(line)) };
  } catch {
    return undefined;
  }
}

/** True counts as 1; what is null is not there. */
function flatten(value: unknown, name = ''): LogRecord {
  if (typeof value === 'string' || typeof value === 'number') return { [name]: value };
  if (typeof value === 'boolean') return { [name]: Number(value) };
  const inner = Object.entries(value ?? {}).map(([key, part]) =>
    flatten(part, name ? `${name}.${key}` : key),
  );
  return Object.assign({}, ...inner);
}

/**
 * Runs a query in the part of the Logs Insights language that the saved queries use.
 *
 * @throws Error for anything else
 */
export function runQuery(text: string, records: readonly LogRecord[]): QueryResult {
  const source = createReader(text);
  let matched = [...records];
  let shown: string[] = [];
  let rows: QueryResult['rows'] | undefined;
  do {
    const command = source.take();
    if (command === 'fields') shown = names(source);
    else if (command === 'filter') matched = matched.filter(disjunction(source));
    else if (command === 'stats') rows = aggregate(source, matched);
    else {
      rows ??= matched.map((record) => Object.fromEntries(shown.map((name) => [name, record[name]])));
      if (command === 'sort') rows = sorted(source, rows);
      else if (command === 'limit') rows = rows.slice(0, Number(source.take()));
      else throw new Error(`unknown command ${command}`);
    }
  } while (source.skip('|'));
  if (source.peek() !== undefined) throw new Error(`unexpected ${source.peek()}`);
  return { rows: rows ?? [], matched, asked: [...source.asked] };
}

/** Fields that the query names and none of its own lines has. */
export function unknownFields({ asked, matched }: Pick<QueryResult, 'asked' | 'matched'>): string[] {
  return asked.filter((field) => !matched.some((record) => record[field] !== undefined));
}

type Reader = ReturnType<typeof createReader>;

function createReader(text: string) {
  const tokens = text.match(/"[^"]*"|@?[A-Za-z_][\w.]*|\d+|[^\s]/g) ?? [];
  const asked = new Set<string>();
  let next = 0;
  const take = () => {
    const token = tokens[next++];
    if (token === undefined) throw new Error('the query ends too early');
    return token;
  };
  const skip = (token: string) => {
    const found = tokens[next] === token;
    if (found) next++;
    return found;
  };
  return {
    asked,
    peek: () => tokens[next],
    take,
    skip,
    expect(token: string) {
      if (!skip(token)) throw new Error(`${token} expected before ${tokens[next]}`);
    },
    field() {
      const name = take();
      if (!/^@?[A-Za-z_]/.test(name)) throw new Error(`a field expected, not ${name}`);
      asked.add(name);
      return name;
    },
    literal(): Value {
      const token = take();
      if (token.startsWith('"')) return token.slice(1, -1);
      if (/^\d+$/.test(token)) return Number(token);
      throw new Error(`a value expected, not ${token}`);
    },
  };
}

function names(source: Reader): string[] {
  const found = [source.field()];
  while (source.skip(',')) found.push(source.field());
  return found;
}

function disjunction(source: Reader): Test {
  const tests = [conjunction(source)];
  while (source.skip('or')) tests.push(conjunction(source));
  return (record) => tests.some((test) => test(record));
}

function conjunction(source: Reader): Test {
  const tests = [condition(source)];
  while (source.skip('and')) tests.push(condition(source));
  return (record) => tests.every((test) => test(record));
}

function condition(source: Reader): Test {
  if (source.skip('(')) {
    const inner = disjunction(source);
    source.expect(')');
    return inner;
  }
  if (source.skip('ispresent')) {
    source.expect('(');
    const name = source.field();
    source.expect(')');
    return (record) => record[name] !== undefined;
  }
  const name = source.field();
  const operator = source.take();
  if (operator === 'in') {
    source.expect('[');
    const values = [source.literal()];
    while (source.skip(',')) values.push(source.literal());
    source.expect(']');
    return (record) => values.some((value) => value === record[name]);
  }
  const value = source.literal();
  if (operator === '=') return (record) => record[name] === value;
  if (operator === '>') return (record) => Number(record[name]) > Number(value);
  if (operator === 'like') return (record) => String(record[name] ?? '').includes(String(value));
  throw new Error(`unknown operator ${operator}`);
}

function aggregate(source: Reader, records: readonly LogRecord[]): QueryResult['rows'] {
  const statistics = [statistic(source)];
  while (source.skip(',')) statistics.push(statistic(source));
  source.expect('by');
  const by = names(source);
  const groups = new Map<string, LogRecord[]>();
  for (const record of records) {
    const key = JSON.stringify(by.map((name) => record[name]));
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()].map((group) =>
    Object.fromEntries([
      ...by.map((name) => [name, group[0]?.[name]]),
      ...statistics.map(({ name, of }) => [name, of(group)]),
    ]),
  );
}

function statistic(source: Reader): Statistic {
  const kind = source.take();
  source.expect('(');
  const field = source.skip('*') || source.peek() === ')' ? undefined : source.field();
  const percent = source.skip(',') ? Number(source.literal()) : undefined;
  source.expect(')');
  source.expect('as');
  const name = source.take();
  const present = (records: LogRecord[]) =>
    records.flatMap((record) => (field === undefined ? [1] : (record[field] ?? [])));
  if (kind === 'count') return { name, of: (records) => present(records).length };
  if (kind === 'count_distinct') return { name, of: (records) => new Set(present(records)).size };
  if (kind === 'max') return { name, of: (records) => Math.max(...present(records).map(Number)) };
  if (kind === 'pct' && percent !== undefined) {
    return { name, of: (records) => percentile(present(records).map(Number), percent) };
  }
  throw new Error(`unknown statistic ${kind}`);
}

/** The value below which so many percent of the others are. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}

function sorted(source: Reader, rows: QueryResult['rows']): QueryResult['rows'] {
  const name = source.take();
  const direction = source.take();
  if (direction !== 'asc' && direction !== 'desc') throw new Error(`unknown direction ${direction}`);
  const sign = direction === 'asc' ? 1 : -1;
  return rows.toSorted((a, b) => sign * compare(a[name] ?? '', b[name] ?? ''));
}

function compare(a: Value, b: Value): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
