import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type LogEvent, logEvents } from '../../src/platform/log-events.ts';

const src = path.resolve(import.meta.dirname, '../../src');

/** One log call in the code: its event, its fields, and the file it is in. */
export interface LogCall {
  event: LogEvent;
  fields: string[];
  file: string;
}

const files = new Map(
  readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [file, readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')]),
);

/** Every use of an event name in src with the fields that are logged beside it. */
export function logCalls(): LogCall[] {
  return [...files].flatMap(([file, text]) =>
    [...text.matchAll(/\blogEvents\.(\w+)\s*(?:,\s*|\))/g)].map(({ 0: found, 1: name, index }) => ({
      event: logEvents[name as keyof typeof logEvents],
      fields: found.endsWith(')') ? [] : fieldsOf(text, index + found.length),
      file,
    })),
  );
}

/** The files that a handler's bundle is made of. */
export function filesOf(functionName: string): Set<string> {
  const reached = new Set<string>();
  const visit = (file: string) => {
    const text = files.get(file);
    if (text === undefined || reached.has(file)) return;
    reached.add(file);
    for (const [, imported = ''] of text.matchAll(/^(?:import|export) (?!type)[^;]*?'(\.[^']+)';/gms)) {
      visit(path.resolve(path.dirname(file), imported));
    }
  };
  visit(path.join(src, `${functionName}.ts`));
  return reached;
}

/** The names in the object that begins at `start`, or in what has the name there. */
function fieldsOf(text: string, start: number): string[] {
  if (text[start] !== '{') return namedFields(text, text.slice(start));
  return entriesAt(text, start).flatMap((entry) => {
    if (!entry.startsWith('...')) return /^\w+/.exec(entry) ?? [];
    const braces = [...entry.matchAll(/\{/g)].map(({ index }) => index);
    return braces.length > 0
      ? braces.flatMap((index) => fieldsOf(entry, index))
      : namedFields(text, entry.slice(3));
  });
}

/**
 * The fields of a constant of the same file, or of what a function returns. Of anything else, such as an argument,
 * nothing is known: then a query that asks for one of its fields is told to be wrong.
 */
function namedFields(text: string, expression: string): string[] {
  const [, name = '', call] = /^(\w+)(\()?/.exec(expression) ?? [];
  if (call) return returnedFields(name);
  const assigned = [...text.matchAll(new RegExp(`\\b${name}(?:: [^=;]+)? = (?=(\\{)|(\\w+)\\()`, 'g'))];
  return assigned.flatMap(({ 0: found, 1: literal, 2: maker = '', index }) =>
    literal ? fieldsOf(text, index + found.length) : returnedFields(maker),
  );
}

function returnedFields(maker: string): string[] {
  for (const text of files.values()) {
    const [declaration] = text.matchAll(
      new RegExp(`^(?:export )?(?:function ${maker}\\b|const ${maker} = \\()`, 'gm'),
    );
    if (!declaration) continue;
    const [body = ''] = /^.*?\n[})]/s.exec(text.slice(declaration.index)) ?? [];
    const returned = [...body.matchAll(/(?:return |=> \()(?=\{)/g)];
    return returned.flatMap(({ 0: found, index }) => fieldsOf(body, index + found.length));
  }
  return [];
}

/** `{ a, b: f(c, d), ...e }` -> `a`, `b: f(c, d)`, `...e`. */
function entriesAt(text: string, start: number): string[] {
  const entries: string[] = [];
  let depth = 0;
  let entry = '';
  const finish = () => {
    if (entry.trim()) entries.push(entry.trim());
    entry = '';
  };
  for (const character of text.slice(start)) {
    if ('}])'.includes(character)) depth -= 1;
    if (depth === 0 && character === '}') break;
    if (depth === 1 && character === ',') finish();
    else if (depth > 0) entry += character;
    if ('{[('.includes(character)) depth += 1;
  }
  finish();
  return entries;
}
