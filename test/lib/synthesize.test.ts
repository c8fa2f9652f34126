import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { synthesizeStage } from '../../lib/synthesize.ts';
import { placeholderApp, placeholderHandlers, templatesOf } from '../support/synthesized.ts';

describe('synthesizeStage', () => {
  it('writes the templates that a deploy would use, and where each asset lies', () => {
    const outdir = mkdtempSync(path.join(tmpdir(), 'callytics-stage-'));
    onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
    const directory = synthesizeStage('test', outdir, placeholderHandlers);
    expect(directory).toBe(path.join(outdir, 'assembly-test'));

    const manifest = JSON.parse(readFileSync(path.join(directory, 'manifest.json'), 'utf8'));
    const stacks = Object.values<{ type: string; properties: { templateFile: string; stackName: string } }>(
      manifest.artifacts,
    ).filter(({ type }) => type === 'aws:cloudformation:stack');
    const deployed = templatesOf(placeholderApp());
    const read = (file: string) => JSON.parse(readFileSync(path.join(directory, file), 'utf8'));
    expect(stacks.map(({ properties }) => properties.stackName).toSorted()).toEqual([
      'test-Callytics',
      'test-LeadTracking',
    ]);
    for (const { properties } of stacks) {
      expect(read(properties.templateFile)).toEqual(deployed[properties.stackName]);
      const { files } = read(properties.templateFile.replace('.template.', '.assets.'));
      const zipped = Object.values<{ source: { path: string; packaging: string } }>(files).filter(
        ({ source }) => source.packaging === 'zip',
      );
      expect(zipped.length).toBeGreaterThan(0);
      for (const { source } of zipped) {
        expect(existsSync(path.join(directory, source.path, 'index.mjs'))).toBe(true);
      }
    }
  });

  it('names the stages when there is no such one', () => {
    expect(() => synthesizeStage('staging', tmpdir(), placeholderHandlers)).toThrow(
      'no stage staging: test, prod',
    );
  });
});
