import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync, type Metafile } from 'esbuild';
import { bundleHandlers, bundleOptions, handlerNames } from '../lib/bundle.ts';
import { librariesAlone } from './libraries-alone.ts';
import { median, type Report, ratio } from './report.ts';

const starts = 9;
const root = path.join(import.meta.dirname, '..');

interface Bundle {
  file: string;
  bytes: number;
  gzipBytes: number;
  /** One import in each fresh process. */
  imports: Import[];
}

interface Import {
  wallMs: number;
  cpuMs: number;
}

/** Size and import time of each function's bundle against one of the same exports of the same libraries. */
export async function measureBundles(): Promise<Report> {
  const outdir = mkdtempSync(path.join(tmpdir(), 'callytics-bench-'));
  try {
    const { directories, metafile } = bundleHandlers(outdir);
    const rows = [];
    for (const name of handlerNames()) {
      const file = path.join(directories(name), 'index.mjs');
      const inputs = inputsOf(metafile, file);
      const librariesFile = path.join(outdir, `${name}-libraries.mjs`);
      buildSync({
        ...bundleOptions,
        stdin: { contents: await librariesAlone(Object.keys(inputs)), resolveDir: root },
        outfile: librariesFile,
      });
      const [bundle, libraries] = measurePair(file, librariesFile);
      rows.push([
        name,
        kilobytes(bundle.bytes),
        ratio([bundle.bytes], [libraries.bytes]),
        kilobytes(bundle.gzipBytes),
        ratio([bundle.gzipBytes], [libraries.gzipBytes]),
        median(bundle.imports.map(wall)).toFixed(0),
        ratio(bundle.imports.map(wall), libraries.imports.map(wall)),
        ratio(bundle.imports.map(cpu), libraries.imports.map(cpu)),
        largest(inputs),
      ]);
    }
    return {
      title: 'Bundles',
      notes: [
        `Against a bundle of the same exports of the same libraries. Import time: medians of ${starts} fresh Node.js processes.`,
      ],
      columns: ['', 'KB', 'size', 'KB gzip', 'size', 'import ms', 'time', 'CPU', 'largest parts, KB'],
      rows,
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

const wall = ({ wallMs }: Import) => wallMs;
const cpu = ({ cpuMs }: Import) => cpuMs;

type Inputs = Metafile['outputs'][string]['inputs'];

function inputsOf(metafile: Metafile, file: string): Inputs {
  const output = metafile.outputs[path.relative(root, file)];
  if (!output) throw new Error(`esbuild made no ${file}`);
  return output.inputs;
}

/** In turns, so that both meet the same load. */
function measurePair(file: string, librariesFile: string): [Bundle, Bundle] {
  const bundles: [Bundle, Bundle] = [bundleAt(file), bundleAt(librariesFile)];
  // The first process finds the files on the disk, the others in memory.
  for (let start = 0; start <= starts; start++) {
    for (const { file, imports } of bundles) {
      const measured = importOnce(file);
      if (start > 0) imports.push(measured);
    }
  }
  return bundles;
}

function bundleAt(file: string): Bundle {
  const code = readFileSync(file);
  return { file, bytes: code.length, gzipBytes: gzipSync(code, { level: 9 }).length, imports: [] };
}

function importOnce(file: string): Import {
  const probe = `${file}.probe.mjs`;
  writeFileSync(
    probe,
    `const [start, before] = [performance.now(), process.cpuUsage()];
    await import('./${path.basename(file)}');
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify({ wallMs: performance.now() - start, cpuMs: (user + system) / 1000 }));
    process.exit();`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [probe], { encoding: 'utf8', env: {} });
  if (status !== 0) throw new Error(`${file} can't be imported: ${stderr}`);
  return JSON.parse(stdout);
}

/** Packages by what they take of the bundle; our own code as one of them. */
function largest(inputs: Inputs): string {
  const bytes = new Map<string, number>();
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const owner = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? 'own code';
    bytes.set(owner, (bytes.get(owner) ?? 0) + bytesInOutput);
  }
  return [...bytes]
    .sort(([, left], [, right]) => right - left)
    .slice(0, 5)
    .map(([owner, size]) => `${owner} ${kilobytes(size)}`)
    .join(', ');
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0);
}
