import { isStacked, type Pair, readLine } from './pairs.ts';

/**
 * How far a pair may be believed to be the lead's. `doubtful`: below a field about the studio, so that it counts
 * only if there is no other of its kind. `weak`: under a line of unknown meaning (a letterhead or footer), so that
 * it counts only if the mail names nobody else. `foreign`: the studio's, the staff's or the platform's.
 */
export type Trust = 'lead' | 'doubtful' | 'weak' | 'foreign';

export interface PlacedPair extends Pair {
  trust: Trust;
  /** Line number, to tell two lines of one block from two blocks. */
  line: number;
}

const party =
  '(studio|location|club|gym|store|vendor|dealer|dealership|provider|franchise|centre|center|school|facility|office|company|business|staff|coach|trainer|agent|owner|host|organizer|rep|representative|support|emergency|referrer|referral|friend|instructor|manager)';
/** `Studio Information`: what follows is theirs, even a line labelled Name. `Studio:` is an empty field. */
const foreignHeading = new RegExp(
  `^(?:the |your |our |assigned )?${party}(?:'s)? (?:info|information|details?|contact|contact info|contact information|contact details|data)\\s*:?$|^emergency contact$`,
  'i',
);
const footerLine =
  /\b(call|contact|visit|reach|e-?mail|text|find|follow) us\b|^questions\?|\bneed help\b|\bhave questions\b|\bunsubscribe\b|©|\bcopyright\b|\bfor more information\b|\ball rights reserved\b|\bprivacy policy\b|\bcustomer (service|support|care)\b|\bsupport team\b|\b(best|kind|warm) regards\b|^regards\b|^sincerely\b|^thanks?( you)?[,!.]*$|^sent from my\b/i;
const leadHeading =
  /\b(lead|customer|client|guest|member|prospect|visitor|personal|contact (info|information|details)|submission|submitted|inquiry|enquiry|booking|appointment|details|information)\b/i;
/** A line's beginning tells a heading or footer; all of it would be the price of long lines. */
const maxProse = 300;
const rule = /^[\s>]*([-_=*~–—]\s?){3,}$/;
const signature = /^-- ?$/;

/** All pairs of a mail's lines in order, each with the trust that its surroundings earn it. */
export function placePairs(lines: readonly string[]): PlacedPair[] {
  const placed: PlacedPair[] = [];
  const stacked = isStacked(lines);
  let inherited: Trust = 'lead';
  let next = 0;
  for (const { from, to, signed } of paragraphs(lines)) {
    if (signed && placed.some(isContact)) break;
    // A value may stand one blank line below its label: then it opens no paragraph of its own.
    const start = Math.max(from, next);
    if (start >= to) continue;
    const paragraph = readParagraph(lines, start, to, stacked);
    const letterhead = !stacked && isLetterhead(paragraph.opening, placed.at(-1));
    const { trust, passesOn } = judge(paragraph, inherited, letterhead, stacked);
    placed.push(...paragraph.pairs.map((pair) => ({ ...pair, trust: trust(pair) })));
    next = paragraph.next;
    inherited = passesOn;
  }
  return placed;
}

export function isContact({ label }: Pair): boolean {
  return label?.kind === 'phone' || label?.kind === 'email';
}

export function isName({ label }: Pair): boolean {
  return label?.kind === 'firstName' || label?.kind === 'fullName' || label?.kind === 'lastName';
}

interface Paragraph {
  from: number;
  to: number;
  /** Stands after a `-- ` line. */
  signed: boolean;
}

function paragraphs(lines: readonly string[]): Paragraph[] {
  const found: Paragraph[] = [];
  let from = 0;
  let signed = false;
  const close = (to: number) => {
    if (to > from) found.push({ from, to, signed });
  };
  lines.forEach((line, index) => {
    const isSignature = signature.test(line);
    if (line !== '' && !isSignature && !rule.test(line)) return;
    close(index);
    signed ||= isSignature;
    from = index + 1;
  });
  close(lines.length);
  return found;
}

type LinedPair = Pair & { line: number };
type ProseLine = { text: string; line: number };

interface ReadParagraph {
  pairs: LinedPair[];
  /** Lines without a known label that are no part of a message. */
  prose: ProseLine[];
  /** The first line, if it is no field at all. */
  opening: string | undefined;
  /** First line that belongs to the next paragraph. */
  next: number;
}

function readParagraph(lines: readonly string[], from: number, to: number, stacked: boolean): ReadParagraph {
  const pairs: LinedPair[] = [];
  const prose: ProseLine[] = [];
  let opening: string | undefined;
  let index = from;
  while (index < to) {
    const text = (lines[index] ?? '').slice(0, maxProse).trim();
    const isHeading = foreignHeading.test(text);
    const { pairs: found, consumed } = isHeading
      ? { pairs: [], consumed: 0 }
      : readLine(lines, index, stacked);
    for (const pair of found) pairs.push({ ...pair, line: index });
    const inMessage = pairs.at(-1)?.label?.kind === 'message';
    if (!found.some(({ label }) => label) && !inMessage) prose.push({ text, line: index });
    if (index === from && found.length === 0) opening = text;
    index += 1 + consumed;
  }
  return { pairs, prose, opening, next: index };
}

/** How far each pair of a paragraph is trusted, and what the paragraph passes on to the next one. */
function judge(
  { pairs, prose, opening }: ReadParagraph,
  inherited: Trust,
  letterhead: boolean,
  stacked: boolean,
): { trust: (pair: LinedPair) => Trust; passesOn: Trust } {
  const heading = prose.find(({ text }) => foreignHeading.test(text));
  const footer = prose.find(({ text }) => footerLine.test(text));
  const isFooter = footer !== undefined && !pairs.some((pair) => isName(pair) && pair.line > footer.line);
  const headed = opening !== undefined && !footerLine.test(opening) && leadHeading.test(opening);
  const impersonal = letterhead || pairs.some(({ key }) => /^(web|website|www|web site)$/.test(key));
  const weak = !headed && !pairs.some(isName) && (inherited === 'weak' || impersonal);
  const trust = (pair: LinedPair): Trust => {
    if (inherited === 'foreign' || (heading && pair.line > heading.line)) return 'foreign';
    if (pair.label?.explicit) return 'lead';
    if (isFooter && pair.line > footer.line) return 'foreign';
    if (weak || (isContact(pair) && !stacked && followsBrand(prose, pairs, pair))) return 'weak';
    return isContact(pair) && followsForeign(pairs, pair) ? 'doubtful' : 'lead';
  };
  const headsNext = heading !== undefined && !pairs.some(({ line }) => line > heading.line);
  return { trust, passesOn: headsNext ? 'foreign' : isFooter || weak ? 'weak' : 'lead' };
}

const brand = /\b(studio|gym|club|fitness|academy|llc|inc|ltd)\b/i;

/** A business's name on a line of its own between the lead's fields and a number: a footer without a gap. */
function followsBrand(prose: readonly ProseLine[], pairs: readonly LinedPair[], contact: LinedPair): boolean {
  const above = prose
    .filter(({ text, line }) => line < contact.line && brand.test(text) && text.split(/\s+/).length <= 6)
    .at(-1);
  return (
    above !== undefined &&
    !pairs.some((pair) => isName(pair) && pair.line > above.line && pair.line < contact.line)
  );
}

/** `Location: Riverside`, `Phone: …`: nearer to a field about the studio than to the lead's name. */
function followsForeign(pairs: readonly LinedPair[], contact: LinedPair): boolean {
  const before = pairs.slice(0, pairs.indexOf(contact)).reverse();
  return before.find((pair) => isName(pair) || pair.label?.kind === 'foreign')?.label?.kind === 'foreign';
}

/**
 * A line such as a studio's name above its phone. After a message or an unknown field it is the sender's own text;
 * where values stand below their labels (`stacked`) it may be a label that we don't know.
 */
function isLetterhead(opening: string | undefined, before: PlacedPair | undefined): boolean {
  const continuesText =
    before !== undefined && (before.label === undefined || before.label.kind === 'message');
  return opening !== undefined && !continuesText;
}
