import { type ChildProcess, spawn } from 'node:child_process';

/** Python's, not of an npm package: pip install 'moto[server]'. */
const program = 'moto_server';

/** The only account that moto knows. */
export const motoAccount = '123456789012';
export const motoCredentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** moto's server, an independent implementation of the AWS APIs in Python, CloudFormation among them. */
export interface Moto {
  /** Has to say `localhost`: by this word moto finds templates in its own S3. */
  readonly endpoint: string;
  /** What it has written so far. */
  log(): string;
  stop(): Promise<void>;
}

interface Call {
  readonly service: string;
  readonly region: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** With a body it is a POST. */
  readonly body?: string;
}

/** Starts moto on a free port. Comes to an end with this process at the latest. */
export async function startMoto(): Promise<Moto | { missing: string }> {
  const child = spawn(program, ['-H', 'localhost', '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  const kill = () => child.kill();
  process.once('exit', kill);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${program} is not installed: ${error.message}`));
    child.once('exit', (code) => resolve(`${program} ended with ${code}: ${log.trim().split('\n').at(-1)}`));
  });
  const stop = async () => {
    process.off('exit', kill);
    child.kill();
    await ended;
  };
  const found = await Promise.race([
    listening(child, (text) => {
      log += text;
      return log;
    }),
    ended.then((missing) => ({ missing })),
    new Promise<{ missing: string }>((resolve) =>
      setTimeout(resolve, 60_000, { missing: `${program} does not start within a minute` }).unref(),
    ),
  ]);
  if (typeof found === 'string') return { endpoint: found, log: () => log, stop };
  await stop();
  return found;
}

/** @returns the address, once moto listens */
function listening(child: ChildProcess, append: (text: string) => string): Promise<string> {
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      const [address] = /http:\/\/localhost:\d+/.exec(append(chunk.toString())) ?? [];
      if (address) resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

/**
 * A call to a service whose SDK client the application doesn't need. moto takes service and region from the
 * signature's scope, and doesn't check the signature.
 *
 * @returns the answer's text
 * @throws Error with the answer when its status isn't 2xx
 */
export async function call(
  moto: Moto,
  { service, region, path = '/', headers, body }: Call,
): Promise<string> {
  const scope = `${motoCredentials.accessKeyId}/20260101/${region}/${service}/aws4_request`;
  const response = await fetch(new URL(path, moto.endpoint), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${service} ${path} in ${region}: ${response.status} ${text}`);
  return text;
}
