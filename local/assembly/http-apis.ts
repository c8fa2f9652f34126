import * as z from 'zod';
import { type Surroundings, TemplateError } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import type { StackTemplate } from './template.ts';

export interface RoutePlan {
  /** `POST`, or `ANY`. */
  method: string;
  /** `/ringcentral/{accountId}`. */
  path: string;
  functionName: string;
  /** Requests a second, and how many at once beyond them. */
  throttle?: { rate: number; burst: number };
}

export interface HttpApiPlan {
  id: string;
  region: string;
  routes: RoutePlan[];
}

const apiSchema = z.strictObject({
  Name: z.string(),
  ProtocolType: z.literal('HTTP'),
  Description: ignored,
  DisableExecuteApiEndpoint: z.literal(false).optional(),
  Tags: ignored,
});

const integrationSchema = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
  IntegrationMethod: ignored,
  Description: ignored,
  TimeoutInMillis: ignored,
});

const routeSchema = z.strictObject({
  ApiId: z.string(),
  RouteKey: z.string(),
  Target: z.string(),
  AuthorizationType: z.literal('NONE').optional(),
});

const throttleSchema = z.strictObject({
  ThrottlingBurstLimit: z.coerce.number().optional(),
  ThrottlingRateLimit: z.coerce.number().optional(),
  DetailedMetricsEnabled: ignored,
});

const stageSchema = z.strictObject({
  ApiId: z.string(),
  // The only stage without a segment of its own in the path.
  StageName: z.literal('$default'),
  AutoDeploy: z.literal(true),
  AccessLogSettings: ignored,
  DefaultRouteSettings: throttleSchema.optional(),
  RouteSettings: z.record(z.string(), throttleSchema).default({}),
  Tags: ignored,
});

/** They are the ids too, and known before anything is resolved: each has its address before a template uses it. */
export function httpApiNames({ resources }: StackTemplate): string[] {
  return Object.values(resources).flatMap(({ Type, Properties }) =>
    Type === 'AWS::ApiGatewayV2::Api' ? [String(Properties?.Name)] : [],
  );
}

/** The HTTP APIs of a stack; every route leads to a function. */
export function planHttpApis(stack: StackTemplate, surroundings: Surroundings): HttpApiPlan[] {
  const all = <S extends z.ZodType>(type: string, schema: S) =>
    resourcesOfType(stack, [`AWS::ApiGatewayV2::${type}`], schema, surroundings);
  const integrations = namedResourcesOfType(
    stack,
    ['AWS::ApiGatewayV2::Integration'],
    integrationSchema,
    surroundings,
  );
  const routes = all('Route', routeSchema);
  const stages = all('Stage', stageSchema);
  return namedResourcesOfType(stack, ['AWS::ApiGatewayV2::Api'], apiSchema, surroundings).map(
    ({ name, path }) => {
      const stage = stages.find(({ properties }) => properties.ApiId === name);
      if (!stage) throw new TemplateError(path, 'an API without a stage answers nobody');
      return {
        id: name,
        region: stack.region,
        routes: routes
          .filter(({ properties }) => properties.ApiId === name)
          .map((route) => {
            const { RouteKey, Target } = route.properties;
            const integration = integrations.find((candidate) => Target === `integrations/${candidate.name}`);
            const [, method = '', routePath = ''] = /^([A-Z]+) (\/.*)$/.exec(RouteKey) ?? [];
            if (!integration || !method)
              throw new TemplateError(route.path, `unknown route ${RouteKey} ${Target}`);
            const throttle = throttleOf(stage.properties, RouteKey);
            return {
              method,
              path: routePath,
              functionName: functionNameOf(integration.properties.IntegrationUri),
              ...(throttle ? { throttle } : {}),
            };
          }),
      };
    },
  );
}

/** A function's ARN, or the long form around it. */
function functionNameOf(uri: string): string {
  return /function:([^/:]+)/.exec(uri)?.[1] ?? '';
}

function throttleOf(
  { DefaultRouteSettings, RouteSettings }: z.output<typeof stageSchema>,
  routeKey: string,
): RoutePlan['throttle'] {
  const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = {
    ...DefaultRouteSettings,
    ...RouteSettings[routeKey],
  };
  return rate === undefined || burst === undefined ? undefined : { rate, burst };
}
