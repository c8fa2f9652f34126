import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const topFolders = ['bin', 'lib', 'src', 'local', 'bench'];

/** Every module of ours with what it imports: own files as paths from the root, packages by name. */
const modules = topFolders.flatMap(sourceFiles).map((path) => ({ path, imports: importsOf(path) }));

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** Type imports count too: a circle of types is a circle of ideas. */
function importsOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\(|^import) ?'([^']+)'/gm)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? relative(root, join(root, dirname(path), specifier)) : specifier,
  );
}

/** `src/mail/formats/x.ts` -> `src/mail`; a handler `src/poller.ts` stands for itself. */
function unitOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts.slice(0, 2).join('/') : path;
}

function circles(edges: Map<string, Set<string>>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, trail: string[]) => {
    if (trail.includes(node)) {
      found.push([...trail.slice(trail.indexOf(node)), node]);
      return;
    }
    if (done.has(node)) return;
    for (const next of edges.get(node) ?? []) visit(next, [...trail, node]);
    done.add(node);
  };
  for (const node of edges.keys()) visit(node, []);
  return found;
}

function graph(nameOf: (path: string) => string): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of modules) {
    const from = nameOf(path);
    const own = imports.filter((target) => topFolders.includes(target.split('/')[0] ?? ''));
    for (const to of own.map(nameOf)) {
      if (to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return edges;
}

describe('the shape of the code', () => {
  it('finds a circle when there is one', () => {
    expect(
      circles(
        new Map([
          ['a', new Set(['b'])],
          ['b', new Set(['a'])],
        ]),
      ),
    ).toEqual([['a', 'b', 'a']]);
  });

  it('has no circle between folders', () => {
    expect(circles(graph(unitOf))).toEqual([]);
  });

  it('has no circle between files', () => {
    expect(circles(graph((path) => path))).toEqual([]);
  });

  it('keeps production code free of the local run, the CDK app and tests', () => {
    const strays = modules.flatMap(({ path, imports }) =>
      path.startsWith('src/')
        ? imports.filter((to) => /^(local|lib|test|bin|bench)\//.test(to)).map((to) => [path, to])
        : [],
    );
    expect(strays).toEqual([]);
  });

  it('keeps the schema free of our own code', () => {
    const strays = modules.flatMap(({ path, imports }) =>
      path.startsWith('src/db/schema/')
        ? imports.filter((to) => to.startsWith('src/') && !to.startsWith('src/db/schema/'))
        : [],
    );
    expect(strays).toEqual([]);
  });

  it('lets nothing import a handler', () => {
    const handlers = modules.filter(({ path }) => /^src\/[^/]+\.ts$/.test(path)).map(({ path }) => path);
    expect(modules.flatMap(({ imports }) => imports.filter((to) => handlers.includes(to)))).toEqual([]);
  });

  it('keeps every file under about 300 lines', () => {
    const long = modules.filter(
      ({ path }) => readFileSync(join(root, path), 'utf8').split('\n').length > 320,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });
});
