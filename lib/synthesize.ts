import { bundleHandlers } from './bundle.ts';
import { stages } from './config.ts';
import { createApp } from './stages.ts';

/**
 * Synthesizes one stage in this process, without CLI and validation: about a second.
 * Templates, asset manifests and assets lie in `{outdir}/assembly-{stage}/`.
 *
 * @param outdir the cloud assembly's directory; it is made
 * @returns the directory of the stage's own assembly
 * @throws Error when config.ts has no such stage
 */
export function synthesizeStage(
  stageName: string,
  outdir: string,
  handlers = bundleHandlers().directories,
): string {
  const config = stages.find(({ name }) => name === stageName);
  if (!config) throw new Error(`no stage ${stageName}: ${stages.map(({ name }) => name).join(', ')}`);
  const app = createApp([config], handlers, {
    outdir,
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    stackTraces: false,
  });
  return app.synth().getNestedAssembly(`assembly-${stageName}`).directory;
}
