import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { App } from 'aws-cdk-lib';
import { inject } from 'vitest';
import { stages } from '../../lib/config.ts';
import { createApp } from '../../lib/stages.ts';

export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  [key: string]: unknown;
}
export type Template = { Resources: Record<string, Resource>; [key: string]: unknown };

const directory = mkdtempSync(path.join(inject('scratch'), 'synth-'));

const code = path.join(directory, 'code');
mkdirSync(code);
writeFileSync(path.join(code, 'index.mjs'), 'export const handler = async () => {};\n');

/** Code in place of the bundles: templates look the same, but nothing needs to be bundled. */
export const placeholderHandlers = () => code;

/** The app as bin/callytics.ts makes it, with placeholder code; fast enough for unit tests. */
export function placeholderApp(configs = stages): App {
  return createApp(configs, placeholderHandlers, {
    outdir: mkdtempSync(path.join(directory, 'cdk.out-')),
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    stackTraces: false,
  });
}

/** Each stage's templates by stack name, such as `prod-LeadTracking`. */
export function templatesOf(app: App): Record<string, Template> {
  const assembly = app.synth();
  const stacks = assembly.nestedAssemblies.flatMap(({ nestedAssembly }) => nestedAssembly.stacks);
  return Object.fromEntries(stacks.map((stack) => [stack.stackName, stack.template as Template]));
}

/** A template's resources of one type, with their logical ids. */
export function resourcesOf(template: Template | undefined, type: string): (Resource & { id: string })[] {
  return Object.entries(template?.Resources ?? {})
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => ({ ...resource, id }));
}

const nameProperties = ['QueueName', 'FunctionName', 'TableName', 'TopicName', 'BucketName', 'Name'];

/**
 * Intrinsics as text, so that expectations can be written down: a reference to a resource (its ARN, URL or
 * name alike) becomes its physical name, or its logical id where it has none.
 */
export function readable(template: Template, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => readable(template, item));
  if (typeof value !== 'object' || value === null) return value;
  const [[key, content] = ['', undefined], ...others] = Object.entries(value);
  if (others.length === 0) {
    if (key === 'Ref') return nameOf(template, String(content));
    if (key === 'Fn::GetAtt' && Array.isArray(content)) return nameOf(template, String(content[0]));
    if (key === 'Fn::Join' && Array.isArray(content)) {
      return content[1].map((part: unknown) => readable(template, part)).join(content[0]);
    }
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, readable(template, inner)]));
}

function nameOf(template: Template, logicalId: string): string {
  const properties = template.Resources[logicalId]?.Properties ?? {};
  const name = nameProperties
    .map((property) => properties[property])
    .find((found) => typeof found === 'string');
  return typeof name === 'string' ? name : logicalId;
}

/** A resource with its stack, intrinsics in its properties as text. */
export type PlacedResource = Resource & { id: string; stack: string; region: string };

/** All resources of one type in all stacks. */
export function everyResource(templates: Record<string, Template>, type: string): PlacedResource[] {
  return Object.entries(templates).flatMap(([stack, template]) =>
    resourcesOf(template, type).map((resource) => ({
      ...resource,
      Properties: readable(template, resource.Properties ?? {}) as Record<string, unknown>,
      stack,
      region: stack.endsWith('LeadTracking') ? 'us-east-1' : 'us-west-2',
    })),
  );
}

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
}

export const asList = (value: string | string[]) => (Array.isArray(value) ? value : [value]);

/** Every policy statement of a role, intrinsics as text. */
export function statementsOf(template: Template, role: string): Statement[] {
  return resourcesOf(template, 'AWS::IAM::Policy')
    .map(
      ({ Properties }) =>
        readable(template, Properties) as { Roles: string[]; PolicyDocument: { Statement: Statement[] } },
    )
    .filter(({ Roles }) => Roles.includes(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}
