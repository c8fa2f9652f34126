import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemplateResource } from '../../local/assembly/template.ts';
import type { Journal } from '../../local/journal.ts';
import type { LocalStage } from '../../local/stage.ts';
import { deploy, propertiesOf, resource, type Templates } from './templates.ts';

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const join = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });

/** As the CDK writes an HTTP API with one route. */
function addApi(
  { calls }: Templates,
  change: (resources: Record<string, TemplateResource>) => void = () => undefined,
) {
  calls.Receiver = resource('AWS::Lambda::Function', {
    ...propertiesOf(calls, 'Worker'),
    Handler: 'receiver.handler',
    Environment: {
      Variables: {
        WEBHOOK_URL: join(
          'https://',
          { Ref: 'Api' },
          '.execute-api.',
          { Ref: 'AWS::Region' },
          '.',
          { Ref: 'AWS::URLSuffix' },
          '/ringcentral',
        ),
        ENDPOINT: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] },
      },
    },
  });
  calls.Api = resource('AWS::ApiGatewayV2::Api', { Name: 'webhooks', ProtocolType: 'HTTP' });
  calls.Integration = resource('AWS::ApiGatewayV2::Integration', {
    ApiId: { Ref: 'Api' },
    IntegrationType: 'AWS_PROXY',
    IntegrationUri: arn('Receiver'),
    PayloadFormatVersion: '2.0',
  });
  calls.Route = resource('AWS::ApiGatewayV2::Route', {
    ApiId: { Ref: 'Api' },
    RouteKey: 'POST /ringcentral/{accountId}',
    Target: join('integrations/', { Ref: 'Integration' }),
    AuthorizationType: 'NONE',
  });
  calls.Stage = resource('AWS::ApiGatewayV2::Stage', {
    ApiId: { Ref: 'Api' },
    StageName: '$default',
    AutoDeploy: true,
    DefaultRouteSettings: { ThrottlingBurstLimit: 500, ThrottlingRateLimit: 200 },
  });
  calls.Permission = resource('AWS::Lambda::Permission', {
    Action: 'lambda:InvokeFunction',
    FunctionName: arn('Receiver'),
    Principal: 'apigateway.amazonaws.com',
    SourceArn: join(
      'arn:aws:execute-api:',
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
      ':',
      { Ref: 'Api' },
      '/*/*/ringcentral/{accountId}',
    ),
  });
  change(calls);
}

const originOf = ({ webOrigins }: LocalStage) => webOrigins.get('webhooks') ?? '';

let stage: LocalStage;
let journal: Journal;
beforeAll(async () => {
  ({ stage, journal } = await deploy((templates) => addApi(templates)));
});
afterAll(() => stage.close());

const post = (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => fetch(`${originOf(stage)}${path}`, { method: 'POST', body, headers });

describe('the HTTP API in front of a function', { timeout: 30_000 }, () => {
  it('a request becomes an event of payload format 2.0', async () => {
    const answer = await post('/ringcentral/400%20131?a=1&a=2', '{"x":1}', {
      'content-type': 'application/json',
      'Verification-Token': 'secret',
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      version: '2.0',
      routeKey: 'POST /ringcentral/{accountId}',
      rawPath: '/ringcentral/400%20131',
      rawQueryString: 'a=1&a=2',
      queryStringParameters: { a: '1,2' },
      pathParameters: { accountId: '400 131' },
      headers: { 'verification-token': 'secret', 'content-type': 'application/json' },
      requestContext: { http: { method: 'POST', path: '/ringcentral/400%20131' }, stage: '$default' },
      body: '{"x":1}',
      isBase64Encoded: false,
    });
  });

  it('bytes that are no text come in base64, and an empty body not at all', async () => {
    const bytes = new Uint8Array([0xff, 0x00, 0x80]);
    const binary = await (
      await post('/ringcentral/1', bytes, { 'content-type': 'application/octet-stream' })
    ).json();
    expect(binary).toMatchObject({ body: '/wCA', isBase64Encoded: true });
    const answer = await post('/ringcentral/1', '', { 'Validation-Token': 'echo-me' });
    expect(answer.headers.get('validation-token')).toBe('echo-me');
    expect(await answer.json()).not.toHaveProperty('body');
  });

  it('other paths and methods: 404, and no function is asked', async () => {
    for (const [method, path] of [
      ['GET', '/ringcentral/1'],
      ['POST', '/ringcentral'],
      ['POST', '/ringcentral/1/2'],
      ['POST', '/ringcentral/'],
      ['POST', '/'],
    ]) {
      const answer = await fetch(`${originOf(stage)}${path}`, { method: method ?? '' });
      expect([answer.status, await answer.text()]).toEqual([404, '{"message":"Not Found"}']);
    }
  });

  it('a function that fails is 500, one that answers without a status 200', async () => {
    const failed = await post('/ringcentral/1', 'fail');
    expect([failed.status, await failed.json()]).toEqual([500, { message: 'Internal Server Error' }]);
    expect(journal.errors.at(-1)).toMatchObject({ kind: 'handler_error', where: 'Calls-Receiver' });
    const plain = await post('/ringcentral/1', 'plain');
    expect([plain.status, await plain.json()]).toEqual([200, { seen: '/ringcentral/1' }]);
  });

  it('over 10 MB: 413', async () => {
    const answer = await post('/ringcentral/1', 'x'.repeat(10 * 1024 * 1024 + 1));
    expect(answer.status).toBe(413);
  });

  it('the address that the template builds is the one on this machine', () => {
    const { environment } = stage.functions.get('Calls-Receiver')?.plan ?? {};
    expect(environment).toEqual({ WEBHOOK_URL: `${originOf(stage)}/ringcentral`, ENDPOINT: originOf(stage) });
  });
});

describe('an API that is made otherwise', { timeout: 30_000 }, () => {
  it('throttles: 429 beyond the burst', async () => {
    const { stage: throttled } = await deploy((templates) =>
      addApi(templates, (calls) => {
        propertiesOf(calls, 'Stage').DefaultRouteSettings = {
          ThrottlingBurstLimit: 2,
          ThrottlingRateLimit: 0.01,
        };
      }),
    );
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) {
      statuses.push((await fetch(`${originOf(throttled)}/ringcentral/1`, { method: 'POST' })).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    await throttled.close();
  });

  it('without the right to invoke the function it answers 500, and the run knows why', async () => {
    const { stage: denied, journal: seen } = await deploy((templates) =>
      addApi(templates, (calls) => delete calls.Permission),
    );
    expect((await fetch(`${originOf(denied)}/ringcentral/1`, { method: 'POST' })).status).toBe(500);
    expect(seen.errors).toEqual([
      expect.objectContaining({ kind: 'access_denied', where: 'Calls-Receiver' }),
    ]);
    await denied.close();
  });

  it.each<[string, string, object]>([
    ['payload format 1.0', 'Integration', { PayloadFormatVersion: '1.0' }],
    ['a stage in the path', 'Stage', { StageName: 'v1' }],
    ['an authorizer', 'Route', { AuthorizationType: 'JWT' }],
    ['an unknown property', 'Api', { CorsConfiguration: {} }],
  ])('%s is not known here', async (_, id, change) => {
    await expect(
      deploy((templates) => addApi(templates, (calls) => Object.assign(propertiesOf(calls, id), change))),
    ).rejects.toThrow(/TemplateError|Calls\//);
  });
});
