import * as z from 'zod';
import { physicalResourceOf, resolve, type Surroundings, TemplateError } from './intrinsics.ts';
import type { StackTemplate } from './template.ts';

/** A property that makes no difference to what runs here: encryption, tags, backups. */
export const ignored = z.unknown().optional();

export interface Resource<T> {
  id: string;
  /** `Stack/LogicalId`, for errors. */
  path: string;
  properties: T;
}

/**
 * The resources of one type with their properties resolved and checked. Schemas are strict: a property that
 * the local run doesn't honour is an error, never a silent difference from AWS.
 *
 * @throws TemplateError naming resource and property
 */
export function resourcesOfType<S extends z.ZodType>(
  stack: StackTemplate,
  types: readonly string[],
  schema: S,
  surroundings: Surroundings,
): Resource<z.output<S>>[] {
  return Object.entries(stack.resources)
    .filter(([, { Type }]) => types.includes(Type))
    .map(([id, resource]) => {
      const path = `${stack.name}/${id}`;
      if (resource.Condition) throw new TemplateError(path, `unknown condition ${resource.Condition}`);
      const resolved = resolve(resource.Properties ?? {}, stack, surroundings, path);
      const checked = schema.safeParse(resolved);
      if (!checked.success) {
        const [issue] = checked.error.issues;
        throw new TemplateError([path, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'invalid');
      }
      return { id, path, properties: checked.data };
    });
}

/** As `resourcesOfType`, for types that have a physical name; with name and ARN. */
export function namedResourcesOfType<S extends z.ZodType>(
  stack: StackTemplate,
  types: readonly string[],
  schema: S,
  surroundings: Surroundings,
): (Resource<z.output<S>> & { name: string; arn: string })[] {
  return resourcesOfType(stack, types, schema, surroundings).map((resource) => {
    const { name, attributes } = physicalResourceOf(resource.id, stack, surroundings, resource.path);
    return { ...resource, name, arn: attributes.Arn ?? '' };
  });
}
