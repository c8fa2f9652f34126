import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleHandlers, handlerNames } from '../../lib/bundle.ts';
import { environmentContract, type FunctionName } from '../../src/platform/environment.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

const outdir = mkdtempSync(path.join(tmpdir(), 'callytics-dist-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));
const { directories, metafile } = bundleHandlers(outdir);
const root = path.join(import.meta.dirname, '../..');

/** node-fetch, which the RingCentral SDK brings, asks for it inside a `try` and does without. */
const optional = ['encoding'];

/** What esbuild put into a function's bundle. */
function outputOf(name: FunctionName) {
  const file = path.relative(root, path.join(directories(name), 'index.mjs'));
  const output = metafile.outputs[file];
  if (!output) throw new Error(`no ${file}`);
  return output;
}

describe('bundles', () => {
  it('has one for each function of the environment contract', () => {
    expect(handlerNames().toSorted()).toEqual(Object.keys(environmentContract).toSorted());
  });

  it.each(handlerNames())(
    'A6 Node imports the bundle of %s by itself, and finds its handler',
    async (name) => {
      const probe = path.join(directories(name), 'probe.mjs');
      // A file of its own: `node -e` has a global `require`, which would hide the fault.
      writeFileSync(
        probe,
        "const { handler } = await import('./index.mjs');\nconsole.log(typeof handler);\n",
      );
      const { stdout } = await promisify(execFile)(process.execPath, [probe], { cwd: tmpdir(), env: {} });
      expect(stdout.trim()).toBe('function');
    },
  );

  it.each(handlerNames())('%s carries everything but Node itself, the SDK included', (name) => {
    const external = outputOf(name)
      .imports.filter((one) => one.external)
      .map((one) => one.path);
    const missing = external.filter(
      (module) =>
        !module.startsWith('node:') && !builtinModules.includes(module) && !optional.includes(module),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(outputOf(name).inputs).join('\n')).toContain('node_modules/@aws-sdk/');
  });

  it.each(handlerNames())('%s has its source map beside it, without the sources', (name) => {
    const map = JSON.parse(readFileSync(path.join(directories(name), 'index.mjs.map'), 'utf8'));
    expect(map.sources.some((source: string) => source.endsWith(`src/${name}.ts`))).toBe(true);
    expect(map.sourcesContent).toBeUndefined();
  });

  it('loads the mail libraries in the poller only: they cost a cold start 95 ms', () => {
    const withMail = handlerNames().filter((name) =>
      /node_modules\/(imapflow|mailparser)\//.test(Object.keys(outputOf(name).inputs).join('\n')),
    );
    expect(withMail).toEqual(['poller']);
  });
});

describe('metrics that alarms wait for', () => {
  const waited = everyResource(templatesOf(placeholderApp()), 'AWS::CloudWatch::Alarm')
    .filter(({ Properties }) => Properties.Namespace === 'Callytics')
    .map(({ Properties }) => ({
      metric: String(Properties.MetricName),
      service: String(
        (Properties.Dimensions as { Name: string; Value: string }[]).find(({ Name }) => Name === 'service')
          ?.Value,
      ),
    }));

  it('are emitted by code of that very function', () => {
    expect(waited.length).toBeGreaterThan(0);
    const silent = waited.filter(({ metric, service }) => {
      const files = Object.keys(outputOf(service as FunctionName).inputs).filter(
        (file) => file.startsWith('src/') && !file.endsWith('metric-names.ts'),
      );
      return !files.some((file) => readFileSync(path.join(root, file), 'utf8').includes(`'${metric}'`));
    });
    expect(silent).toEqual([]);
  });
});
