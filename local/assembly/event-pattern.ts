import { TemplateError } from './intrinsics.ts';
import type { Json } from './template.ts';

/** Says whether an event (or a part of one) matches. */
type Matcher = (value: Json | undefined) => boolean;

/** A parsed EventBridge event pattern. */
export interface EventPattern {
  matches: (event: Json) => boolean;
}

type JsonObject = { [key: string]: Json };

/**
 * Parses an EventBridge event pattern
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html).
 *
 * @throws TemplateError for a pattern that EventBridge would refuse, or an operator that is not known here
 */
export function parsePattern(pattern: Json, path: string): EventPattern {
  if (!isObject(pattern)) throw new TemplateError(path, 'an event pattern is an object');
  return { matches: objectMatcher(pattern, path) };
}

function objectMatcher(pattern: JsonObject, path: string): Matcher {
  const entries = Object.entries(pattern);
  if (entries.length === 0) throw new TemplateError(path, 'an empty pattern');
  const tests = entries.map(([key, rule]): Matcher => {
    if (key === '$or') return alternatives(rule, `${path}.$or`);
    const child = fieldMatcher(rule, `${path}.${key}`);
    return (value) => child(isObject(value) ? value[key] : undefined);
  });
  const all: Matcher = (value) => tests.every((test) => test(value));
  // An array of objects matches when one of them does.
  return (value) => (Array.isArray(value) ? value.some(all) : all(value));
}

function alternatives(rules: Json, path: string): Matcher {
  if (!Array.isArray(rules) || rules.length < 2) throw new TemplateError(path, 'at least two alternatives');
  const tests = rules.map((rule, index) => {
    if (!isObject(rule)) throw new TemplateError(`${path}[${index}]`, 'an object is expected');
    return objectMatcher(rule, `${path}[${index}]`);
  });
  return (value) => tests.some((test) => test(value));
}

function fieldMatcher(rule: Json, path: string): Matcher {
  if (isObject(rule)) return objectMatcher(rule, path);
  if (!Array.isArray(rule) || rule.length === 0) {
    throw new TemplateError(path, 'a list of allowed values or a nested pattern is expected');
  }
  const tests = rule.map((test, index) => valueMatcher(test, `${path}[${index}]`));
  return (value) => {
    // A list in the event matches when one of its elements does; an empty one counts as absent.
    const candidates = Array.isArray(value) ? (value.length > 0 ? value : [undefined]) : [value];
    return tests.some((test) => candidates.some(test));
  };
}

function valueMatcher(test: Json, path: string): Matcher {
  if (!isObject(test)) {
    if (Array.isArray(test)) throw new TemplateError(path, 'a list inside the list of values');
    return (value) => value === test;
  }
  const [operator, argument, ...rest] = Object.entries(test).flat();
  if (typeof operator !== 'string' || argument === undefined || rest.length > 0) {
    throw new TemplateError(path, 'one operator is expected');
  }
  return operatorMatcher(operator, argument, path);
}

function operatorMatcher(operator: string, argument: Json, path: string): Matcher {
  switch (operator) {
    case 'exists': {
      if (typeof argument !== 'boolean') throw new TemplateError(path, 'exists takes true or false');
      return (value) => (value !== undefined && !isObject(value)) === argument;
    }
    case 'prefix':
    case 'suffix':
    case 'equals-ignore-case':
    case 'wildcard':
      return textMatcher(operator, argument, path);
    case 'anything-but':
      return anythingBut(argument, path);
    case 'numeric':
      return numericMatcher(argument, path);
    case 'cidr':
      throw new TemplateError(path, 'the operator cidr is not known here');
    default:
      throw new TemplateError(path, `unknown operator ${operator}`);
  }
}

type TextOperator = 'prefix' | 'suffix' | 'equals-ignore-case' | 'wildcard';

function textMatcher(operator: TextOperator, argument: Json, path: string): Matcher {
  if (isObject(argument) && typeof argument['equals-ignore-case'] === 'string' && /fix$/.test(operator)) {
    const lower = textMatcher(operator, argument['equals-ignore-case'].toLowerCase(), path);
    return (value) => typeof value === 'string' && lower(value.toLowerCase());
  }
  if (typeof argument !== 'string') throw new TemplateError(path, `${operator} takes a string`);
  const test = textTests[operator](argument);
  return (value) => typeof value === 'string' && test(value);
}

const textTests: Record<TextOperator, (argument: string) => (value: string) => boolean> = {
  prefix: (argument) => (value) => value.startsWith(argument),
  suffix: (argument) => (value) => value.endsWith(argument),
  'equals-ignore-case': (argument) => (value) => value.toLowerCase() === argument.toLowerCase(),
  wildcard: (argument) => {
    const source = argument
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*');
    const expression = new RegExp(`^${source}$`, 's');
    return (value) => expression.test(value);
  },
};

/** Matches a present value that is none of those named: strings, numbers, or one text operator. */
function anythingBut(argument: Json, path: string): Matcher {
  const tests = isObject(argument) ? negatedOperators(argument, path) : negatedValues(argument, path);
  return (value) => value !== undefined && !isObject(value) && !tests.some((test) => test(value));
}

function negatedValues(argument: Json, path: string): Matcher[] {
  const values = Array.isArray(argument) ? argument : [argument];
  const comparable = values.every((value) => typeof value === 'string' || typeof value === 'number');
  if (!comparable || values.length === 0)
    throw new TemplateError(path, 'anything-but takes strings or numbers');
  return values.map((excluded) => (value) => value === excluded);
}

function negatedOperators(argument: JsonObject, path: string): Matcher[] {
  const [operator, operand, ...rest] = Object.entries(argument).flat();
  if (typeof operator !== 'string' || operand === undefined || !(operator in textTests) || rest.length > 0) {
    throw new TemplateError(path, `unknown operator in anything-but: ${String(operator)}`);
  }
  const operands = Array.isArray(operand) ? operand : [operand];
  return operands.map((each) => textMatcher(operator as TextOperator, each, path));
}

const comparisons: Record<string, (value: number, bound: number) => boolean> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `["numeric": [">", 0, "<=", 5]]`: one or two comparisons, all of which must hold. */
function numericMatcher(argument: Json, path: string): Matcher {
  if (!Array.isArray(argument) || ![2, 4].includes(argument.length)) {
    throw new TemplateError(path, 'numeric takes one or two comparisons');
  }
  const tests: ((value: number) => boolean)[] = [];
  for (let index = 0; index < argument.length; index += 2) {
    const compare = comparisons[String(argument[index])];
    const bound = argument[index + 1];
    if (!compare || typeof bound !== 'number') throw new TemplateError(path, 'an unknown numeric comparison');
    tests.push((value) => compare(value, bound));
  }
  return (value) => typeof value === 'number' && tests.every((test) => test(value));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
