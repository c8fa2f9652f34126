import { conditionFailed, type StateTable } from '../../src/platform/state-table.ts';

type Item = Record<string, unknown>;
type Bind = (token: string) => unknown;

/**
 * The state table in memory, shared by all simulated containers. Knows the expressions of the call flow (gate,
 * tokens, lease, parked items) and throws on any other.
 */
export function callStateTable(): StateTable & { items: Map<string, Item> } {
  const items = new Map<string, Item>();
  return {
    items,
    get: async (pk) => {
      const item = items.get(pk);
      return item && { ...item };
    },
    put: async (pk, attributes) => void items.set(pk, { ...attributes, pk }),
    update: async (pk, { update, condition, names = {}, values = {} }) => {
      const before = items.get(pk) ?? {};
      const nameOf = (token: string) => (token.startsWith('#') ? (names[token] ?? unknown(token)) : token);
      const boundTo: Bind = (token) => (token in values ? values[token] : unknown(token));
      if (condition && !holds(condition, (token) => before[nameOf(token)], boundTo)) return conditionFailed;
      const after: Item = { ...before, pk };
      for (const [, clause = '', body = ''] of update.matchAll(
        /(SET|REMOVE|ADD) (.+?)(?= SET | REMOVE | ADD |$)/g,
      )) {
        for (const part of body.split(', ')) apply(after, clause, part.split(/ = | /), nameOf, boundTo);
      }
      items.set(pk, after);
      return { ...after };
    },
    delete: async (pk) => void items.delete(pk),
  };
}

function apply(
  item: Item,
  clause: string,
  [name = '', value = '']: string[],
  nameOf: (token: string) => string,
  boundTo: Bind,
): void {
  const attribute = nameOf(name);
  if (clause === 'REMOVE') delete item[attribute];
  else if (clause === 'SET') item[attribute] = boundTo(value);
  else item[attribute] = Number(item[attribute] ?? 0) + Number(boundTo(value));
}

/** Comparisons joined by AND or OR, no brackets: AND binds closer. */
function holds(condition: string, read: Bind, boundTo: Bind): boolean {
  return condition
    .split(' OR ')
    .some((all) => all.split(' AND ').every((one) => holdsOne(one, read, boundTo)));
}

function holdsOne(comparison: string, read: Bind, boundTo: Bind): boolean {
  const [, not, missing] = /^attribute_(not_)?exists\(([#\w]+)\)$/.exec(comparison) ?? [];
  if (missing) return (read(missing) === undefined) === (not !== undefined);
  const [, name = '', sign = '', value = ''] =
    /^([#\w]+) (=|<>|<=|<|>=|>) (:\w+)$/.exec(comparison) ?? unknown(comparison);
  const [left, right] = [read(name), boundTo(value)];
  if (sign === '=') return left === right;
  if (sign === '<>') return left !== right;
  if (left === undefined) return false;
  const [a, b] = [Number(left), Number(right)];
  return sign === '<=' ? a <= b : sign === '<' ? a < b : sign === '>=' ? a >= b : a > b;
}

function unknown(text: string): never {
  throw new Error(`The simulated state table doesn't know: ${text}`);
}
