import { join } from 'node:path';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { localAccount, type StackTemplate, type TemplateResource } from './template.ts';

interface AssetManifest {
  files?: Record<string, { source: { path?: string }; destinations: Record<string, { objectKey: string }> }>;
}

/** Reads the stacks of one stage: `directory` is the stage's own cloud assembly (cdk.out/assembly-prod). */
export function readStacks(directory: string): StackTemplate[] {
  return new CloudAssembly(directory).stacks.map((stack) => ({
    name: stack.stackName,
    region: stack.environment.region,
    resources: rewriteAccount(stack.template, stack.environment.account).Resources ?? {},
    assets: new Map(
      stack.dependencies.flatMap((dependency) =>
        'contents' in dependency ? assetDirectories(directory, dependency.contents as AssetManifest) : [],
      ),
    ),
  }));
}

function assetDirectories(assembly: string, { files = {} }: AssetManifest): [string, string][] {
  return Object.values(files).flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ objectKey }): [string, string] => [
      objectKey,
      join(assembly, source.path ?? ''),
    ]),
  );
}

/** The account is written out where the CDK app knows it, in ARNs above all. */
function rewriteAccount(
  template: unknown,
  account: string,
): { Resources?: Record<string, TemplateResource> } {
  return JSON.parse(JSON.stringify(template).replaceAll(account, localAccount));
}
