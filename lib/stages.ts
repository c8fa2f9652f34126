import { App, type AppProps, Stage } from 'aws-cdk-lib';
import cdkJson from '../cdk.json' with { type: 'json' };
import type { HandlerDirectories } from './bundle.ts';
import { type StageConfig, validateStages } from './config.ts';
import { routingFaults } from './event-routing.ts';
import { CallyticsStack } from './stacks/callytics-stack.ts';
import { LeadTrackingStack } from './stacks/leadtracking-stack.ts';
import { addOperations } from './stacks/operations.ts';

/**
 * The CDK app with one Stage an entry. bin, tests and the local run all come through here, so that the
 * feature flags of cdk.json count for all of them.
 *
 * @param handlers where each function's bundle lies
 * @throws Error when the stages are wrong or share what only one may have; `synth()` throws when an event would
 *   be delivered twice
 */
export function createApp(
  configs: readonly StageConfig[],
  handlers: HandlerDirectories,
  props: AppProps = {},
): App {
  validateStages(configs);
  const app = new App({ context: cdkJson.context, analyticsReporting: false, ...props });
  for (const config of configs) {
    const stage = new Stage(app, config.name);
    const leads = new LeadTrackingStack(stage, { config, handlers });
    const calls = new CallyticsStack(stage, { config, handlers });
    addOperations(leads, calls);
  }
  app.node.addValidation({ validate: () => routingFaults(app) });
  return app;
}
