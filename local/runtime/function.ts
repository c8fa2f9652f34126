import type { FunctionPlan } from '../assembly/functions.ts';
import type { Journal } from '../journal.ts';
import { type Instance, startInstance } from './instance.ts';
import type { InvocationResult } from './runtime-api.ts';

/** A deployed function, as its triggers see it. */
export interface LocalFunction {
  plan: FunctionPlan;
  /** Invokes and waits, in an idle process or a new one. Failures are values, and recorded in the journal. */
  invoke(event: unknown): Promise<InvocationResult>;
  /** Invokes without waiting; a failed one is repeated as the function's configuration says. */
  invokeAsynchronously(payload: string): void;
  /** Invocations under way. */
  readonly running: number;
  stop(): Promise<void>;
}

/** Lambda waits one minute before the first repetition and two before the second. */
const retryDelayMs = 60_000;

/**
 * @param environment what Lambda adds to the template's variables: region, credentials, endpoint
 */
export function createFunction(
  plan: FunctionPlan,
  environment: Record<string, string>,
  journal: Journal,
): LocalFunction {
  const idle: Instance[] = [];
  const all = new Set<Instance>();
  let running = 0;

  async function takeInstance(): Promise<Instance> {
    for (;;) {
      const instance = idle.pop();
      if (!instance) break;
      if (instance.alive) return instance;
      all.delete(instance);
    }
    const started = await startInstance(
      plan,
      { ...plan.environment, ...lambdaVariables(plan), ...environment },
      (line) => journal.log(plan.name, line),
    );
    all.add(started);
    return started;
  }

  async function invokeWith(payload: string): Promise<InvocationResult> {
    running++;
    try {
      const instance = await takeInstance();
      const result = await instance.invoke(payload);
      if (instance.alive) idle.push(instance);
      else all.delete(instance);
      if (!result.ok) {
        journal.fail('handler_error', plan.name, `${result.errorType}: ${result.errorMessage}`);
      }
      return result;
    } finally {
      running--;
    }
  }

  async function untilSucceeded(payload: string): Promise<void> {
    for (let attempt = 1; attempt <= 1 + plan.asynchronousRetries; attempt++) {
      const result = await invokeWith(payload);
      if (result.ok) return;
      if (attempt <= plan.asynchronousRetries) await wait(attempt * retryDelayMs);
    }
  }

  return {
    plan,
    invoke: (event) => invokeWith(JSON.stringify(event)),
    invokeAsynchronously(payload) {
      journal.track('handler_error', plan.name, untilSucceeded(payload));
    },
    get running() {
      return running;
    },
    async stop() {
      await Promise.all([...all].map((instance) => instance.stop()));
    },
  };
}

/** What Lambda itself sets (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html). */
function lambdaVariables(plan: FunctionPlan): Record<string, string> {
  return {
    TZ: 'UTC',
    _HANDLER: plan.handler,
    LAMBDA_TASK_ROOT: plan.directory,
    AWS_REGION: plan.region,
    AWS_DEFAULT_REGION: plan.region,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs',
    AWS_LAMBDA_FUNCTION_NAME: plan.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(plan.memoryMegabytes),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${plan.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // Nothing of the developer's own AWS configuration reaches a function.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    // Lambda's Node.js is newer than the one here may be; the SDK would say so in each process.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
