import { TemplateError } from './intrinsics.ts';
import type { Json } from './template.ts';

/** One statement of an identity or resource policy. */
export interface Statement {
  effect: 'Allow' | 'Deny';
  actions: string[];
  resources: string[];
  /** Only in resource policies: `Service:events.amazonaws.com`, `AWS:arn…`, or `*`. */
  principals?: string[];
  conditions: Condition[];
}

interface Condition {
  operator: Operator;
  key: string;
  values: string[];
}

export interface AccessRequest {
  /** `sqs:SendMessage`. */
  action: string;
  /** ARN, or `*` where the action has none. */
  resource: string;
  /** As in `Statement.principals`; needed where a resource policy is asked. */
  principal: string;
  /** Condition keys and their values, as `aws:SourceArn`. */
  context: Record<string, string[]>;
}

export type Decision = 'allowed' | 'explicitly denied' | 'not granted';

interface Operator {
  matches: (pattern: string, value: string) => boolean;
  negated: boolean;
  quantifier?: 'ForAllValues' | 'ForAnyValue';
  ifExists: boolean;
}

const equal = (pattern: string, value: string) => pattern === value;
const comparisons: Record<string, Pick<Operator, 'matches' | 'negated'>> = {
  StringEquals: { matches: equal, negated: false },
  StringNotEquals: { matches: equal, negated: true },
  StringLike: { matches: wildcardMatches, negated: false },
  StringNotLike: { matches: wildcardMatches, negated: true },
  ArnEquals: { matches: arnMatches, negated: false },
  ArnLike: { matches: arnMatches, negated: false },
  ArnNotEquals: { matches: arnMatches, negated: true },
  ArnNotLike: { matches: arnMatches, negated: true },
  Bool: { matches: (pattern, value) => pattern.toLowerCase() === value.toLowerCase(), negated: false },
};

/** The condition keys that the local services fill in; a policy that asks for another can't be judged here. */
const knownKeys = new Set([
  'aws:SecureTransport',
  'aws:SourceArn',
  'aws:SourceAccount',
  'dynamodb:LeadingKeys',
  'events:source',
  'events:detail-type',
  'transcribe:OutputBucketName',
  'transcribe:OutputKey',
]);

/**
 * Reads a resolved policy document.
 *
 * @param path where it stands in the template
 * @throws TemplateError for what the local run can't judge: NotAction, NotResource, NotPrincipal, policy
 * variables, an unknown condition operator or key
 */
export function parsePolicy(document: Json, path: string): Statement[] {
  const { Statement: statements } = document as { Statement?: Json };
  if (statements === undefined) throw new TemplateError(path, 'a policy without Statement');
  return asList(statements).map((statement, index) =>
    parseStatement(statement, `${path}.Statement[${index}]`),
  );
}

function parseStatement(statement: Json, path: string): Statement {
  const { Sid, Effect, Action, Resource, Principal, Condition, ...unknown } = statement as {
    [key: string]: Json;
  };
  const [strange] = Object.keys(unknown);
  if (strange) throw new TemplateError(path, `unknown key ${strange}`);
  if (Effect !== 'Allow' && Effect !== 'Deny') throw new TemplateError(path, `unknown effect ${Effect}`);
  const resources = Resource === undefined ? ['*'] : asList(Resource).map(String);
  if (resources.some((resource) => resource.includes('${')))
    throw new TemplateError(path, 'a policy variable');
  return {
    effect: Effect,
    actions: asList(Action ?? []).map(String),
    resources,
    ...(Principal === undefined ? {} : { principals: parsePrincipals(Principal) }),
    conditions: Object.entries(Condition ?? {}).flatMap(([operator, tests]) =>
      Object.entries(tests as { [key: string]: Json }).map(([key, values]) => {
        if (!knownKeys.has(key)) throw new TemplateError(path, `unknown condition key ${key}`);
        return { operator: parseOperator(operator, path), key, values: asList(values).map(String) };
      }),
    ),
  };
}

function parsePrincipals(principal: Json): string[] {
  if (principal === '*') return ['*'];
  return Object.entries(principal as { [key: string]: Json }).flatMap(([kind, names]) =>
    asList(names).map((name) => (name === '*' ? '*' : `${kind}:${name}`)),
  );
}

function parseOperator(name: string, path: string): Operator {
  const [, quantifier, base = '', ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?(.+?)(IfExists)?$/.exec(name) ?? [];
  const comparison = comparisons[base];
  if (!comparison) throw new TemplateError(path, `unknown condition operator ${name}`);
  return {
    ...comparison,
    ...(quantifier ? { quantifier: quantifier as 'ForAllValues' | 'ForAnyValue' } : {}),
    ifExists: ifExists !== undefined,
  };
}

/**
 * IAM's decision within one account: a Deny wins, then an Allow of the identity or of the resource's policy.
 */
export function decide(
  request: AccessRequest,
  policies: { identity?: readonly Statement[]; resource?: readonly Statement[] },
): Decision {
  const applicable = [
    ...(policies.identity ?? []),
    ...(policies.resource ?? []).filter((statement) => principalMatches(statement, request.principal)),
  ].filter((statement) => applies(statement, request));
  if (applicable.some(({ effect }) => effect === 'Deny')) return 'explicitly denied';
  return applicable.length > 0 ? 'allowed' : 'not granted';
}

function principalMatches({ principals = [] }: Statement, principal: string): boolean {
  return principals.some((name) => name === '*' || name === principal);
}

function applies(statement: Statement, { action, resource, context }: AccessRequest): boolean {
  return (
    statement.actions.some((pattern) => wildcardMatches(pattern.toLowerCase(), action.toLowerCase())) &&
    statement.resources.some((pattern) => wildcardMatches(pattern, resource)) &&
    statement.conditions.every((condition) => conditionHolds(condition, context[condition.key]))
  );
}

function conditionHolds({ operator, values }: Condition, actual: string[] | undefined): boolean {
  const { matches, negated, quantifier, ifExists } = operator;
  if (actual === undefined)
    return quantifier === undefined ? negated || ifExists : quantifier === 'ForAllValues';
  const holds = (value: string) => values.some((pattern) => matches(pattern, value)) !== negated;
  return quantifier === 'ForAllValues' || negated ? actual.every(holds) : actual.some(holds);
}

/** `*` for any characters, `?` for one. */
function wildcardMatches(pattern: string, value: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}

/** Each of an ARN's six parts for itself, so that a wildcard doesn't cross a colon. */
export function arnMatches(pattern: string, value: string): boolean {
  const parts = splitArn(value);
  const patterns = splitArn(pattern);
  return (
    patterns.length === parts.length && patterns.every((part, i) => wildcardMatches(part, parts[i] ?? ''))
  );
}

function splitArn(arn: string): string[] {
  const parts = arn.split(':');
  return [...parts.slice(0, 5), parts.slice(5).join(':')];
}

function asList(value: Json): Json[] {
  return Array.isArray(value) ? value : [value];
}
