import type { FunctionName } from '../../src/platform/environment.ts';
import { readable, resourcesOf, type Template } from '../support/synthesized.ts';

/** Every Lambda function of the templates, references in its properties as text. */
export function functionsIn(templates: Record<string, Template>) {
  return Object.entries(templates).flatMap(([stack, template]) =>
    resourcesOf(template, 'AWS::Lambda::Function').map((resource) => {
      const properties = readable(template, resource.Properties) as {
        FunctionName: string;
        Role: string;
        LoggingConfig: { LogGroup: string };
        Environment: { Variables: Record<string, string> };
      };
      const { Variables: variables } = properties.Environment;
      return {
        stack,
        template,
        ...properties,
        variables,
        name: variables.POWERTOOLS_SERVICE_NAME as FunctionName,
      };
    }),
  );
}
