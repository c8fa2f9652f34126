import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { NodeFunction } from '../constructs/node-function.ts';
import type { StageStack } from '../constructs/stage-stack.ts';
import { savedQueries } from '../queries.ts';

/**
 * Saves each query that has a log group in this stack. As a plain text: QueryDefinition's own query string is
 * built from parts, and the runbook prints the whole.
 */
export function addSavedQueries(stack: StageStack): void {
  const functions = stack.node.findAll().filter((node) => node instanceof NodeFunction);
  for (const [name, query] of Object.entries(savedQueries)) {
    const logsOf: readonly string[] = query.logsOf;
    const groups = functions.filter((one) => logsOf.includes(one.name)).map(({ logGroup }) => logGroup);
    if (groups.length === 0) continue;
    new CfnQueryDefinition(stack, `Query-${name}`, {
      // The console makes folders of it.
      name: `callytics/${stack.config.name}/${name}`,
      queryString: query.text,
      logGroupNames: groups.map(({ logGroupName }) => logGroupName),
    });
  }
}
