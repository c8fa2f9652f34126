import type { CountryCode } from 'libphonenumber-js/max';
import { areTwoPeople } from './fields/people.ts';
import { contextOf, type Finding, firstAddress, readBody } from './read-body.ts';
import { headerOf, readSource } from './read-source.ts';
import { addressesOf } from './recipients.ts';
import { answerSigns } from './replies.ts';
import type { SourceBody, SourceMail } from './source-mail.ts';

export const nothingFound: Finding = {
  originalRecipients: [],
  text: '',
  subject: '',
  opening: [],
  severalPeople: false,
};

/** What may still be read of one mail, messages inside messages included: their number can grow with each level. */
interface Budget {
  bodies: number;
  messages: number;
}

const maxDepth = 3;

/**
 * The lead in a mail: in the message that it forwards as an attachment, else in the best of its bodies. Bodies
 * are alternatives, never mixed.
 */
export function findLead(source: SourceMail, country: CountryCode): Promise<Finding> {
  return search(source, country, { bodies: 8, messages: 4 }, 0);
}

async function search(
  source: SourceMail,
  country: CountryCode,
  budget: Budget,
  depth: number,
): Promise<Finding> {
  // A message that came as an attachment was passed on, whatever it answers itself.
  const context = {
    ...contextOf(source.mail, country),
    ...(depth === 0 && { answers: answerSigns(source.mail) }),
  };
  const bodies = source.bodies.slice(0, budget.bodies);
  budget.bodies -= bodies.length;
  const own = choose(
    bodies,
    bodies.map((body) => readBody(body, context)),
  );
  const inner: Finding[] = [];
  for (const bytes of depth < maxDepth ? source.embedded : []) {
    if (budget.messages <= 0) break;
    budget.messages -= 1;
    const found = await searchEmbedded(bytes, country, budget, depth + 1);
    if (found?.reading || (found && bodies.length === 0)) inner.push(found);
  }
  const original = inner.find(({ reading }) => reading) ?? inner[0];
  return original ? withoutMixture(original, [...inner, ...(own ? [own] : [])]) : (own ?? nothingFound);
}

/** One mail can pass on the forms of several people: none of them may be lost behind the first. */
function withoutMixture(chosen: Finding, all: readonly Finding[]): Finding {
  const { reading } = chosen;
  if (reading?.kind !== 'lead') return chosen;
  const several = all.some(
    (other) =>
      other.answer !== 'quoted' &&
      (other.reading?.kind === 'digest' ||
        (other.reading && areTwoPeople(reading.fields, other.reading.fields))),
  );
  return several ? { ...chosen, reading: { kind: 'digest' } } : chosen;
}

/** A message/rfc822 part is the original of a forward. An unreadable one leaves the mail's own bodies to be read. */
async function searchEmbedded(
  bytes: Buffer,
  country: CountryCode,
  budget: Budget,
  depth: number,
): Promise<Finding | undefined> {
  const inner = await readSource(bytes).catch(() => undefined);
  if (!inner) return undefined;
  const finding = await search(inner, country, budget, depth);
  const recipients = [...addressesOf(inner.mail.to), ...addressesOf(inner.mail.cc)];
  const from = firstAddress(inner.mail.from);
  const to = recipients[0]?.toLowerCase();
  const date = headerOf(inner.mail, 'date');
  return {
    ...finding,
    forwarded: finding.forwarded ?? { ...(from && { from }), ...(to && { to }), ...(date && { date }) },
    originalRecipients: [...finding.originalRecipients, ...recipients],
  };
}

/**
 * Bodies show the same mail: what one of them shows as quoted, or as the sender's own words, is so in the other,
 * where nothing may mark it. What is attached is no quotation.
 */
function choose(bodies: readonly SourceBody[], findings: readonly Finding[]): Finding | undefined {
  const attached = findings.filter((_, index) => bodies[index]?.kind === 'attachment');
  const answers = findings.filter(({ answer }) => answer !== undefined);
  const own = answers.filter(({ answer }) => answer === 'own');
  const unquoted = answers.length === 0 ? findings : [...own, ...attached.filter(({ reading }) => reading)];
  const best = bestOf(unquoted) ?? answers[0];
  return best && (attached.includes(best) ? withoutMixture(best, attached) : best);
}

/** A digest anywhere forbids to use the mail; else the body that tells most; plain text before HTML on a tie. */
function bestOf(findings: readonly Finding[]): Finding | undefined {
  const digest = findings.find(({ reading }) => reading?.kind === 'digest');
  return digest ?? findings.toSorted((one, other) => score(other) - score(one))[0];
}

function score({ reading, format }: Finding): number {
  if (reading?.kind !== 'lead') return 0;
  const { phone, email } = reading.fields;
  const contacts = Number(phone !== undefined) + Number(email !== undefined);
  // ADF says what is what; the text beside it is for people.
  return (
    1 + (format === 'adf' && contacts > 0 ? 1000 : 0) + contacts * 100 + Object.keys(reading.fields).length
  );
}
