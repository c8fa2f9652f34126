import { readdirSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';
import { environmentContract, type FunctionName } from '../src/platform/environment.ts';

const root = path.resolve(import.meta.dirname, '..');

/** Bundled CommonJS (imapflow, mailparser) calls `require`, which an ES module doesn't have (aws-cdk#29310). */
const requireBanner =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** How every bundle is made. */
export const bundleOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  // Lambda has Node.js 24; the same bundle runs on this machine's Node.js 20.
  target: 'node20',
  // The packages' ES module builds: smaller, and they start faster than their CommonJS twins.
  mainFields: ['module', 'main'],
  banner: { js: requireBanner },
  minify: true,
  sourcemap: 'external',
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Where each function's code lies: the directory that becomes its Lambda asset. */
export type HandlerDirectories = (name: FunctionName) => string;

/** Every file directly in `src/` is one Lambda function, named as in the environment contract. */
export function handlerNames(): FunctionName[] {
  const names = readdirSync(path.join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.basename(entry.name, '.ts'));
  return names.map((name) => {
    if (!(name in environmentContract)) throw new Error(`src/${name}.ts has no environment contract`);
    return name as FunctionName;
  });
}

/**
 * Bundles all handlers in one esbuild call to `{outdir}/{function}/index.mjs`, with the AWS SDK in it and
 * the source map beside it. Returns where each lies, and esbuild's metafile (sizes and inputs).
 */
export function bundleHandlers(outdir = path.join(root, 'dist')): {
  directories: HandlerDirectories;
  metafile: Metafile;
} {
  const { metafile } = buildSync({
    ...bundleOptions,
    entryPoints: handlerNames().map((name) => ({ in: `src/${name}.ts`, out: `${name}/index` })),
    outdir,
    outExtension: { '.js': '.mjs' },
  });
  return { directories: (name) => path.join(outdir, name), metafile };
}
