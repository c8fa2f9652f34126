import { Parser } from 'htmlparser2';
import { SaxesParser } from 'saxes';
import { cutText } from '../clean-text.ts';
import { readEmail } from '../fields/email.ts';
import { readLeadType } from '../fields/lead-type.ts';
import { isPlaceholder, readNamePart, splitName } from '../fields/name.ts';
import { readPhone } from '../fields/phone.ts';
import type { LeadFields } from '../parsed-mail.ts';
import type { LeadMail, ReadLead } from './format.ts';

/** One element's text with the path to it, such as `adf/prospect/customer/contact/email`. */
interface Leaf {
  path: string;
  attributes: Record<string, string>;
  text: string;
}

/** A lead is a few kilobytes; nesting that fills more than this costs the parsers its square. */
const maxDocument = 32_000;
const unresolvedEntity = /&[\w#]+;/;

/** ADF/XML 1.0 in a body or an attachment. Only customer/contact is the lead; vendor and provider are not. */
export const adf: ReadLead = (mail) => {
  const document = findDocument(mail.markup) ?? findDocument(mail.lines.join('\n'));
  if (document === undefined) return undefined;
  const prospects = readStrictly(document) ?? readLeniently(document);
  const people = prospects.map((leaves) => readProspect(leaves, mail));
  const [first = {}] = people;
  return people.some((other) => isSomebodyElse(first, other))
    ? { kind: 'digest' }
    : { kind: 'lead', fields: first };
};

/** From `<adf` on: the prolog is often malformed, and a DOCTYPE with entities is left out with it. */
function findDocument(text: string): string | undefined {
  const start = text.search(/<adf[\s>]/i);
  if (start === -1) return undefined;
  const rest = cutText(text.slice(start), maxDocument);
  const end = rest.search(/<\/adf\s*>/i);
  return end === -1 ? rest : `${rest.slice(0, end)}</adf>`.replace(/^<adf/i, '<adf');
}

/** `undefined` when the document is not well-formed, or uses entities that only a DTD could define. */
function readStrictly(document: string): Leaf[][] | undefined {
  const reader = new LeafReader();
  let wellFormed = true;
  const parser = new SaxesParser();
  parser.on('error', () => {
    wellFormed = false;
  });
  parser.on('opentag', ({ name, attributes }) => reader.open(name, attributes));
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', () => reader.close());
  parser.write(document).close();
  return wellFormed ? reader.prospects : undefined;
}

function readLeniently(document: string): Leaf[][] {
  const reader = new LeafReader();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      ontext: (text) => reader.text(text),
      onclosetag: () => reader.close(),
    },
    { xmlMode: true },
  );
  parser.end(document);
  return reader.prospects;
}

class LeafReader {
  readonly prospects: Leaf[][] = [[]];
  readonly #open: Leaf[] = [];

  open(name: string, attributes: Record<string, string>): void {
    const tag = name.toLowerCase();
    if (tag === 'prospect' && this.prospects.at(-1)?.length !== 0) this.prospects.push([]);
    const parent = this.#open.at(-1)?.path;
    const lowered = Object.entries(attributes).map(([key, value]) => [
      key.toLowerCase(),
      value.toLowerCase(),
    ]);
    // A path as deep as a hostile document's would cost its square.
    const path = this.#open.length > 20 ? (parent ?? tag) : parent === undefined ? tag : `${parent}/${tag}`;
    this.#open.push({ path, attributes: Object.fromEntries(lowered), text: '' });
  }

  text(text: string): void {
    const leaf = this.#open.at(-1);
    if (leaf && leaf.text.length < 2000) leaf.text += text;
  }

  close(): void {
    const leaf = this.#open.pop();
    if (leaf && leaf.text.trim() !== '') this.prospects.at(-1)?.push({ ...leaf, text: leaf.text.trim() });
  }
}

function readProspect(leaves: readonly Leaf[], mail: LeadMail): LeadFields {
  const texts = (pattern: RegExp, accept = (_: Leaf) => true) =>
    leaves
      .filter((leaf) => pattern.test(leaf.path) && accept(leaf) && !unresolvedEntity.test(leaf.text))
      .map(({ text }) => text);
  const part = (...parts: string[]) =>
    texts(/\/customer\/contact\/name$/, ({ attributes }) => parts.includes(attributes.part ?? 'full'))
      .map(readNamePart)
      .find(Boolean);
  const full = splitName(
    texts(/\/customer\/contact\/name$/, ({ attributes }) => (attributes.part ?? 'full') === 'full')[0] ?? '',
  );
  const firstName = part('first') ?? full.firstName;
  const lastName = part('last') ?? full.lastName;
  const email = texts(/\/customer\/contact\/email$/)
    .map(readEmail)
    .find(Boolean);
  const phones = texts(
    /\/customer\/contact\/phone$/,
    ({ attributes }) => !/^(fax|pager)$/.test(attributes.type ?? ''),
  );
  const phone = phones.map((text) => readPhone(text, mail.country)).find(Boolean);
  const phoneRaw = phones.find((text) => !isPlaceholder(text));
  const leadType = cutText(texts(/\/lead_?type$/)[0] ?? '', 100);
  const fields: LeadFields = {
    ...(firstName && { firstName }),
    ...(lastName && { lastName }),
    ...(email && { email }),
    ...(phone && { phone: phone.number }),
    ...(phone?.extension && { phoneExtension: phone.extension }),
    ...(!phone && phoneRaw && { phoneRaw: cutText(phoneRaw, 200) }),
    ...(leadType && { leadType }),
  };
  const type = readLeadType(mail.subject, fields, [], []);
  return { ...fields, ...(type && { leadType: type }) };
}

function isSomebodyElse(one: LeadFields, other: LeadFields): boolean {
  const differs = (a?: string, b?: string) =>
    a !== undefined && b !== undefined && a.toLowerCase() !== b.toLowerCase();
  return (
    differs(one.email, other.email) ||
    differs(one.phone, other.phone) ||
    differs(one.firstName, other.firstName)
  );
}
