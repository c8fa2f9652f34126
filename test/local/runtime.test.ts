import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { FunctionPlan } from '../../local/assembly/functions.ts';
import { createJournal } from '../../local/journal.ts';
import { createFunction, type LocalFunction } from '../../local/runtime/function.ts';

const directory = fileURLToPath(new URL('handlers', import.meta.url));
const stops: LocalFunction[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((fn) => fn.stop()));
});

function start(change: Partial<FunctionPlan> = {}) {
  const journal = createJournal();
  const plan: FunctionPlan = {
    name: 'Runtime',
    region: 'us-west-2',
    arn: 'arn:aws:lambda:us-west-2:000000000000:function:Runtime',
    handler: 'runtime.handler',
    directory,
    environment: { OWN: 'variable' },
    timeoutSeconds: 5,
    memoryMegabytes: 256,
    roleArn: 'arn:aws:iam::000000000000:role/Runtime',
    asynchronousRetries: 0,
    ...change,
  };
  const fn = createFunction(plan, { AWS_ACCESS_KEY_ID: 'key' }, journal);
  stops.push(fn);
  return { fn, journal };
}

describe('a function in its own process', { timeout: 60_000 }, () => {
  it('has the environment of its template and of Lambda, and nothing of ours', async () => {
    process.env.SECRET_OF_THE_DEVELOPER = 'x';
    const { fn } = start();
    const result = await fn.invoke({ do: 'environment' });
    delete process.env.SECRET_OF_THE_DEVELOPER;
    const environment = (result.ok ? result.payload : {}) as Record<string, string>;
    expect(environment).toMatchObject({
      OWN: 'variable',
      AWS_REGION: 'us-west-2',
      AWS_LAMBDA_FUNCTION_NAME: 'Runtime',
      TZ: 'UTC',
    });
    const known = /^(OWN|TZ|_HANDLER|LAMBDA_TASK_ROOT|AWS_\w+|_X_AMZN_TRACE_ID)$/;
    expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
  });

  it('the template cannot take the place of what Lambda sets', async () => {
    const { fn } = start({ environment: { AWS_ACCESS_KEY_ID: 'another' } });
    expect(await fn.invoke({ do: 'environment' })).toMatchObject({ payload: { AWS_ACCESS_KEY_ID: 'key' } });
  });

  it('gets a context with its deadline', async () => {
    const { fn } = start();
    const result = await fn.invoke({ do: 'context' });
    const context = (result.ok ? result.payload : {}) as Record<string, unknown>;
    expect(context).toMatchObject({
      invokedFunctionArn: 'arn:aws:lambda:us-west-2:000000000000:function:Runtime',
      functionName: 'Runtime',
      memoryLimitInMB: '256',
    });
    expect(context.awsRequestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(context.remaining).toBeGreaterThan(1_000);
    expect(context.remaining).toBeLessThanOrEqual(5_000);
  });

  it('answers what the handler answers, warm and one after the other', async () => {
    const { fn } = start();
    expect(await fn.invoke({ a: [1, 'ü'] })).toEqual({ ok: true, payload: { a: [1, 'ü'] } });
    const first = await fn.invoke({ do: 'wait', milliseconds: 0 });
    const second = await fn.invoke({ do: 'wait', milliseconds: 0 });
    expect(first).toEqual(second);
  });

  it('runs invocations at the same time in processes of their own', async () => {
    const { fn } = start();
    const results = await Promise.all([1, 2].map(() => fn.invoke({ do: 'wait', milliseconds: 300 })));
    const [first, second] = results.map((result) => (result.ok ? result.payload : undefined));
    expect(first).not.toBe(second);
  });

  it('an exception is reported with its type', async () => {
    const { fn, journal } = start();
    expect(await fn.invoke({ do: 'throw' })).toEqual({
      ok: false,
      errorType: 'TypeError',
      errorMessage: 'no good',
    });
    expect(journal.errors).toEqual([
      { kind: 'handler_error', where: 'Runtime', message: 'TypeError: no good' },
    ]);
  });

  it('is killed when its time is up, and starts anew', async () => {
    const { fn } = start({ timeoutSeconds: 1 });
    expect(await fn.invoke({ do: 'hang' })).toEqual({
      ok: false,
      errorType: 'Sandbox.Timedout',
      errorMessage: 'Task timed out after 1.00 seconds',
    });
    expect(await fn.invoke({ again: true })).toEqual({ ok: true, payload: { again: true } });
  });

  it('a crash is an error of the invocation, and the next one starts anew', async () => {
    const { fn } = start();
    expect(await fn.invoke({ do: 'crash' })).toEqual({
      ok: false,
      errorType: 'Runtime.ExitError',
      errorMessage: 'Runtime exited with error: exit status 3',
    });
    expect(await fn.invoke({ again: true })).toEqual({ ok: true, payload: { again: true } });
  });

  it.each([
    ['runtime.missing', 'Runtime.HandlerNotFound', /runtime\.missing is undefined or not exported/],
    ['nowhere.handler', 'Runtime.ImportModuleError', /Cannot find module 'nowhere'/],
    ['broken.handler', 'Error', /the module does not load/],
  ])('handler %s: %s', async (handler, errorType, message) => {
    const { fn } = start({ handler });
    const result = await fn.invoke({});
    expect(result).toMatchObject({ ok: false, errorType, errorMessage: expect.stringMatching(message) });
  });

  it('its output becomes log lines', async () => {
    const { fn, journal } = start();
    await fn.invoke({ do: 'print' });
    const lines = () => journal.lines.map(({ functionName, line }) => `${functionName} ${line}`).sort();
    await expect.poll(lines).toEqual(['Runtime to stderr', 'Runtime to stdout']);
  });
});
