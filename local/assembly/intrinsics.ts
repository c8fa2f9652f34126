import { apiAddress, type PhysicalResource, physicalResource } from './physical-names.ts';
import { type Json, localAccount, type StackTemplate } from './template.ts';

/** The template holds something that the local run doesn't know. The message starts with its path. */
export class TemplateError extends Error {
  override name = 'TemplateError';
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

/** What the physical world of this run adds to a template. */
export interface Surroundings {
  /** Origin of the local AWS endpoint, such as `http://127.0.0.1:4566`: queue URLs start with it. */
  origin: string;
  /** Origin of an HTTP API, by its id: wherever a template builds the address that it would have in AWS. */
  webOrigin(apiId: string): string;
}

/** `AWS::NoValue`: the property is left out. */
const noValue = Symbol('AWS::NoValue');
type Resolved = Json | typeof noValue;

/**
 * Resolves the intrinsic functions in a template value.
 *
 * @param path where the value stands, such as `LeadTracking/Poller.Environment`; used in errors
 * @throws TemplateError for everything that is not one of Ref, GetAtt, Join, Sub, Select, Split
 */
export function resolve(value: Json, stack: StackTemplate, surroundings: Surroundings, path: string): Json {
  const resolved = resolveValue(value, { stack, surroundings }, path);
  if (resolved === noValue) throw new TemplateError(path, 'AWS::NoValue where a value is needed');
  return resolved;
}

/**
 * Name, Ref and attributes of a resource of the stack.
 *
 * @throws TemplateError at `path` for a resource type that the local run doesn't know
 */
export function physicalResourceOf(
  id: string,
  stack: StackTemplate,
  surroundings: Surroundings,
  path: string,
): PhysicalResource {
  const { Type, Properties } = stack.resources[id] ?? { Type: 'missing' };
  const property = (key: string) => {
    const value = Properties?.[key];
    return value === undefined
      ? undefined
      : resolve(value, stack, surroundings, `${stack.name}/${id}.${key}`);
  };
  const place = { stackName: stack.name, region: stack.region, ...surroundings };
  const physical = physicalResource(Type, id, place, property);
  if (!physical) throw new TemplateError(path, `unknown resource type ${Type} (${id})`);
  return physical;
}

interface Scope {
  stack: StackTemplate;
  surroundings: Surroundings;
}

function resolveValue(value: Json, scope: Scope, path: string): Resolved {
  if (Array.isArray(value)) return resolveList(value, scope, path);
  if (value === null || typeof value !== 'object') return value;
  const [key, argument] = Object.entries(value)[0] ?? [];
  if (key !== undefined && argument !== undefined && isIntrinsic(key)) {
    if (Object.keys(value).length > 1) throw new TemplateError(path, `${key} beside other keys`);
    return callIntrinsic(key, argument, scope, path);
  }
  const resolved: { [key: string]: Json } = {};
  for (const [name, child] of Object.entries(value)) {
    const result = resolveValue(child, scope, `${path}.${name}`);
    if (result !== noValue) resolved[name] = result;
  }
  return resolved;
}

/** `Condition` alone would be a condition reference, but policies use it as a plain key: it is not one. */
function isIntrinsic(key: string): boolean {
  return key === 'Ref' || key.startsWith('Fn::');
}

function resolveList(values: Json[], scope: Scope, path: string): Json[] {
  return values
    .map((child, index) => resolveValue(child, scope, `${path}[${index}]`))
    .filter((result) => result !== noValue);
}

function callIntrinsic(name: string, argument: Json, scope: Scope, path: string): Resolved {
  const at = `${path}.${name}`;
  switch (name) {
    case 'Ref':
      return reference(text(argument, at), scope, at);
    case 'Fn::GetAtt':
      return attribute(argument, scope, at);
    case 'Fn::Join': {
      const [separator, parts] = list(argument, scope, at);
      return withLocalAddress(strings(parts, at).join(text(separator, at)), scope);
    }
    case 'Fn::Split': {
      const [separator, source] = list(argument, scope, at);
      return text(source, at).split(text(separator, at));
    }
    case 'Fn::Select': {
      const [index, choices] = list(argument, scope, at);
      const choice = Array.isArray(choices) ? choices[Number(index)] : undefined;
      if (choice === undefined) throw new TemplateError(at, `there is no element ${index}`);
      return choice;
    }
    case 'Fn::Sub':
      return substitute(argument, scope, at);
    default:
      throw new TemplateError(path, `unknown intrinsic ${name}`);
  }
}

function reference(id: string, scope: Scope, path: string): Resolved {
  const { stack } = scope;
  switch (id) {
    case 'AWS::NoValue':
      return noValue;
    case 'AWS::Region':
      return stack.region;
    case 'AWS::AccountId':
      return localAccount;
    case 'AWS::Partition':
      return 'aws';
    case 'AWS::URLSuffix':
      return 'amazonaws.com';
    case 'AWS::StackName':
      return stack.name;
    case 'AWS::StackId':
      return `arn:aws:cloudformation:${stack.region}:${localAccount}:stack/${stack.name}/local`;
    default:
      return resourceAt(id, scope, path).ref;
  }
}

function attribute(argument: Json, scope: Scope, path: string): Json {
  const [id = '', ...rest] =
    typeof argument === 'string' ? argument.split('.') : strings(list(argument, scope, path), path);
  const name = rest.join('.');
  const value = resourceAt(id, scope, path).attributes[name];
  if (value === undefined) throw new TemplateError(path, `unknown attribute ${id}.${name}`);
  return value;
}

function resourceAt(id: string, { stack, surroundings }: Scope, path: string): PhysicalResource {
  if (!stack.resources[id]) throw new TemplateError(path, `the template has no resource ${id}`);
  return physicalResourceOf(id, stack, surroundings, path);
}

function substitute(argument: Json, scope: Scope, path: string): string {
  const [template, variables] = typeof argument === 'string' ? [argument, {}] : list(argument, scope, path);
  const values = variables as { [key: string]: Json };
  const substituted = text(template, path).replaceAll(
    /\$\{(!?)([^}]+)\}/g,
    (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      const value =
        values[name] ??
        (name.includes('.') && !name.startsWith('AWS::')
          ? attribute(name, scope, path)
          : reference(name, scope, path));
      if (value === noValue) throw new TemplateError(path, 'AWS::NoValue inside Fn::Sub');
      return text(value, path);
    },
  );
  return withLocalAddress(substituted, scope);
}

/** An HTTP API answers on this machine. */
function withLocalAddress(built: string, { stack, surroundings }: Scope): string {
  if (!built.includes('.execute-api.')) return built;
  const ids = Object.entries(stack.resources).flatMap(([id, { Type }]) =>
    Type === 'AWS::ApiGatewayV2::Api' ? [physicalResourceOf(id, stack, surroundings, id).name] : [],
  );
  return ids.reduce(
    (url, id) => url.replaceAll(apiAddress(id, stack.region), surroundings.webOrigin(id)),
    built,
  );
}

function list(argument: Json, scope: Scope, path: string): [Json, Json, ...Json[]] {
  if (!Array.isArray(argument) || argument.length < 2) throw new TemplateError(path, 'a list is expected');
  const [first, second, ...rest] = resolveList(argument, scope, path);
  if (first === undefined || second === undefined)
    throw new TemplateError(path, 'AWS::NoValue inside the list');
  return [first, second, ...rest];
}

function strings(value: Json | undefined, path: string): string[] {
  if (!Array.isArray(value)) throw new TemplateError(path, 'a list is expected');
  return value.map((part) => text(part, path));
}

function text(value: Json | undefined, path: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TemplateError(path, `a string is expected, not ${JSON.stringify(value)}`);
}
