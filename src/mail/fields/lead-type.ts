import type { LeadFields } from '../parsed-mail.ts';
import { readNamePart } from './name.ts';
import type { PlacedPair } from './sections.ts';

/** The two that the leads table knows by name, however the mail spells them. */
const named: [RegExp, string][] = [
  [/\bonline[\s_-]+intro\b/i, 'Online Intro'],
  [/\bweb[\s_-]?leads?\b/i, 'Web Lead'],
];
const vocabulary =
  /\b(leads?|intro|trial|class|booking|appointment|inquiry|enquiry|consultation|tour|assessment|pass|referral|walk-?in|call-?in|drop-?in|request|reservation|session|registration|lesson|evaluation|quote|sign-?up)\b/i;
/** What a type ends with; "Class schedule" and "Session Fitness" are none. */
const typeEnd = new RegExp(
  `(?:${vocabulary.source}|\\b(?:form|offer|submission|call|entry|confirmation|notification))$`,
  'i',
);
/** Words of a sentence: somebody asks about a class, or lost a pass. */
const ordinary =
  /(?<![\w-])(?:i|i'm|my|me|we|our|you|your|he|she|is|are|was|am|do|does|did|can|could|have|has|had|need|want|wants|would|like|lost|schedule|how|what|when|where|why|who|about|regarding|in|on|to|a|an|the|this|that|no|not|yet|questions?|interested|please|help)(?![\w-])/i;
const heading =
  /^\W*(?:new\s+)?(?:online[\s_-]+intro|web[\s_-]?leads?)(?:\s+(?:booking|offer|call|request|form|submission|alert|notification|received))*\W*$/i;
const prefixes = /^(?:\s*(?:\[[^\]]*\]|(?:re|fwd?|fw|ext|external|updated|cancell?ed|cancell?ation)\s*:))+/i;
const parted = /\s+[-–—|»]+\s+|\s*[:!•]\s+|\s+(?:from|for|by|at|with|via)\s+/i;
const sentence = /^(you|your|someone|somebody|a|an|the|we|i|there|please|hi|hello|thanks?|thank)\b/i;

/**
 * The kind of lead as the mail names it: a lead-type line, else the subject, else a heading above the fields.
 * Never a person's name; `undefined` when nothing names it.
 */
export function readLeadType(
  subject: string,
  fields: LeadFields,
  pairs: readonly PlacedPair[],
  opening: readonly string[],
): string | undefined {
  if (fields.leadType) return canonical(fields.leadType) ?? fields.leadType;
  const hint = pairs.find(
    ({ label, value }) => label?.kind === 'leadTypeHint' && typeIn(value, fields),
  )?.value;
  return (
    fromSubject(subject, fields) ??
    (hint && typeIn(hint, fields)) ??
    opening.map((line) => (heading.test(line) ? canonical(line) : undefined)).find(Boolean)
  );
}

function fromSubject(subject: string, fields: LeadFields): string | undefined {
  // What a visitor typed stands in quotes: `Gym "Free class"` is no type.
  const text = subject.replace(prefixes, '').replace(/["“][^"”]*["”]/g, ' ');
  const known = canonical(text);
  if (known) return known;
  const types = text.split(parted).flatMap((segment) => typeIn(segment, fields) ?? []);
  // "Appointment: Intro Class with Ana": the longer name says more.
  return types.find((type) => type.includes(' ')) ?? types[0];
}

function canonical(text: string): string | undefined {
  return named.find(([pattern]) => pattern.test(text))?.[1];
}

function typeIn(text: string, fields: LeadFields): string | undefined {
  const known = canonical(text);
  if (known) return known;
  const type = text
    .replace(/^\s*(?:new|your)\s+/i, '')
    .replace(/[\s.,!]+$/, '')
    .trim();
  const words = type.split(/\s+/);
  // "New lead: Ana" names no type.
  if (
    !vocabulary.test(type) ||
    !typeEnd.test(type) ||
    ordinary.test(type) ||
    /^leads?$/i.test(type) ||
    words.length > 5 ||
    /[@\d]/.test(type) ||
    sentence.test(type)
  )
    return undefined;
  return isName(type, fields) ? undefined : type;
}

function isName(text: string, { firstName, lastName }: LeadFields): boolean {
  const plain = readNamePart(text)?.toLowerCase();
  const names = [firstName, lastName, `${firstName} ${lastName}`, `${lastName}, ${firstName}`];
  return names.some((name) => name?.toLowerCase() === plain);
}
