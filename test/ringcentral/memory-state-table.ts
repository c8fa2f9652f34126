import { conditionFailed, type StateTable } from '../../src/platform/state-table.ts';

type Item = Record<string, unknown>;

/**
 * A state table in memory for tests with thousands of interleavings: knows the expressions that the gate and
 * the tokens use (the same tests run once against a real DynamoDB protocol) and throws on any other.
 *
 * @param step awaited before each access, so that a scheduler can order the accesses of several workers
 */
export function memoryStateTable(
  step: (access: string) => Promise<void> = async () => {},
): StateTable & { items: Map<string, Item> } {
  const items = new Map<string, Item>();
  return {
    items,
    async get(pk) {
      await step('get');
      const item = items.get(pk);
      return item && { ...item };
    },
    async put(pk, attributes) {
      await step('put');
      items.set(pk, { ...attributes, pk });
    },
    async update(pk, { update, condition, names = {}, values = {} }) {
      await step('update');
      const before = items.get(pk) ?? {};
      if (condition && !holds(condition, before, names, values)) return conditionFailed;
      const after: Item = { ...before, pk };
      const [, set = '', removed = ''] = /^SET (.+?)(?: REMOVE (.+))?$/.exec(update) ?? unknown(update);
      for (const assignment of set.split(', ')) {
        const [, name = '', value = ''] = /^(#\w+) = (:\w+)$/.exec(assignment) ?? unknown(assignment);
        after[attribute(name, names)] = values[value] ?? unknown(value);
      }
      for (const name of removed.split(', ').filter(Boolean)) delete after[attribute(name, names)];
      items.set(pk, after);
      return { ...after };
    },
    async delete(pk) {
      await step('delete');
      items.delete(pk);
    },
  };
}

function holds(condition: string, item: Item, names: Record<string, string>, values: Item): boolean {
  const missing = /^attribute_not_exists\((#\w+)\)$/.exec(condition);
  if (missing) return item[attribute(missing[1] ?? '', names)] === undefined;
  const [, name = '', value = ''] = /^(#\w+) = (:\w+)$/.exec(condition) ?? unknown(condition);
  return item[attribute(name, names)] === (values[value] ?? unknown(value));
}

const attribute = (name: string, names: Record<string, string>) => names[name] ?? unknown(name);

function unknown(text: string): never {
  throw new Error(`The memory state table doesn't know: ${text}`);
}
