import { readFileSync } from 'node:fs';

/**
 * A module that exports what these source files import from npm packages, and nothing else: what a bundle
 * would be if none of our code were in it.
 *
 * @param files of a bundle, those of packages among them, relative to the current folder
 */
export async function librariesAlone(files: readonly string[]): Promise<string> {
  const used = new Map<string, Set<string>>();
  for (const file of files.filter((one) => one.startsWith('src/'))) {
    const code = readFileSync(file, 'utf8');
    for (const [, clause = '', name = ''] of code.matchAll(
      /^import (?!type )([^;]*?) from '([^.'][^']*)'/gm,
    )) {
      if (name.startsWith('node:')) continue;
      const names = used.get(name) ?? new Set();
      for (const one of await importedNames(clause, name, code)) names.add(one);
      used.set(name, names);
    }
  }
  let count = 0;
  return [...used]
    .map(([name, names]) => {
      const list = [...names].map((one) => `${one} as x${count++}`).join(', ');
      return `export { ${list} } from '${name}';`;
    })
    .join('\n');
}

/** `X`, `{ A, type B, C as D }`, `* as z` (of which only the members in use are bundled), and their mixtures. */
async function importedNames(clause: string, name: string, code: string): Promise<string[]> {
  const [, namespace] = /\* as (\w+)/.exec(clause) ?? [];
  if (namespace) {
    const members = [...code.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, 'g'))].map(
      ([, one = '']) => one,
    );
    // What is a type only is no export at run time.
    const exports: object = await import(name);
    return members.filter((one) => one in exports);
  }
  const [, braces = ''] = /\{([^}]*)\}/.exec(clause) ?? [];
  const named = braces
    .split(',')
    .map((one) => one.trim().split(' as ')[0] ?? '')
    .filter((one) => one !== '' && !one.startsWith('type '));
  return /^\w/.test(clause) ? ['default', ...named] : named;
}
