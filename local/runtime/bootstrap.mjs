// Plays Lambda's Node.js runtime in a function's own process: loads the handler, then asks the Runtime API for
// one invocation after the other (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { AWS_LAMBDA_RUNTIME_API: api, LAMBDA_TASK_ROOT: root, _HANDLER: handlerName } = process.env;

/** Node's own client, not fetch: a function may replace fetch, and fetch gives up waiting after five minutes. */
function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`http://${api}/2018-06-01/runtime${path}`, { method }, (incoming) => {
      const chunks = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ headers: incoming.headers, body: Buffer.concat(chunks).toString('utf8') }),
      );
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function errorBody(error, type) {
  const known = error instanceof Error;
  return JSON.stringify({
    errorType: type ?? (known ? error.name : typeof error),
    errorMessage: known ? error.message : String(error),
    trace: known ? (error.stack ?? '').split('\n') : [],
  });
}

async function loadHandler() {
  const dot = handlerName.lastIndexOf('.');
  const [file, name] = [handlerName.slice(0, dot), handlerName.slice(dot + 1)];
  const path = ['.mjs', '.js', '.cjs'].map((extension) => join(root, file + extension)).find(existsSync);
  if (!path) throw Object.assign(new Error(`Cannot find module '${file}'`), { type: 'Runtime.ImportModuleError' });
  const handler = (await import(pathToFileURL(path).href))[name];
  if (typeof handler !== 'function') {
    const message = `${handlerName} is undefined or not exported`;
    throw Object.assign(new Error(message), { type: 'Runtime.HandlerNotFound' });
  }
  return handler;
}

function contextFrom(headers) {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

async function invokeOnce(handler) {
  const { headers, body } = await call('GET', '/invocation/next');
  const id = headers['lambda-runtime-aws-request-id'];
  process.env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id'];
  let answer;
  try {
    const result = await handler(JSON.parse(body), contextFrom(headers));
    answer = ['response', JSON.stringify(result) ?? 'null'];
  } catch (error) {
    answer = ['error', errorBody(error)];
  }
  await call('POST', `/invocation/${id}/${answer[0]}`, answer[1]);
}

try {
  const handler = await loadHandler();
  for (;;) await invokeOnce(handler);
} catch (error) {
  // The Runtime API is gone: the local run ended, and so does this process.
  if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') process.exit(0);
  await call('POST', '/init/error', errorBody(error, error.type)).catch(() => undefined);
  process.exit(1);
}
