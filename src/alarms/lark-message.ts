/** The parts of Lark's card JSON (1.0) that are used here. */
export interface LarkMessage {
  msg_type: 'interactive';
  card: {
    config: { wide_screen_mode: boolean };
    header: { template: Colour; title: PlainText };
    elements: Element[];
  };
}

export type Colour = 'red' | 'orange' | 'green' | 'grey';

/** Shown as it is: a plain text can't mention people, hide links or break the card. */
interface PlainText {
  tag: 'plain_text';
  content: string;
}

/** Lark's markdown: for our own constants only. */
interface Markdown {
  tag: 'lark_md';
  content: string;
}

type Element =
  | { tag: 'div'; text: PlainText }
  | { tag: 'div'; fields: { is_short: boolean; text: PlainText | Markdown }[] }
  | { tag: 'note'; elements: PlainText[] }
  | { tag: 'action'; actions: Button[] };

interface Button {
  tag: 'button';
  type: 'default';
  text: PlainText;
  url: string;
}

/**
 * Longest texts, in characters. Lark refuses a message over 20 KB: with these, the largest card is smaller
 * even when every character takes four bytes.
 */
const limits = { title: 150, text: 800, longText: 3_000, value: 200, url: 600, label: 40, buttons: 6 };

export function card(colour: Colour, title: string, elements: (Element | undefined)[]): LarkMessage {
  return {
    msg_type: 'interactive',
    card: {
      config: { wide_screen_mode: true },
      header: { template: colour, title: plainText(title, limits.title) },
      elements: elements.filter((element) => element !== undefined),
    },
  };
}

export function paragraph(content: string): Element | undefined {
  return content === '' ? undefined : { tag: 'div', text: plainText(content, limits.text) };
}

/** The one text of a card that has little else. */
export function longParagraph(content: string): Element {
  return { tag: 'div', text: plainText(content, limits.longText) };
}

export function note(content: string): Element {
  return { tag: 'note', elements: [plainText(content, limits.text)] };
}

/** Two columns: a label and its value. Rows without a value are left out. */
export function table(rows: Readonly<Record<string, string | undefined>>): Element {
  const fields = Object.entries(rows).flatMap(([label, value]) =>
    value === undefined
      ? []
      : [
          { is_short: true, text: { tag: 'lark_md' as const, content: `**${label}**` } },
          { is_short: true, text: plainText(value, limits.value) },
        ],
  );
  return { tag: 'div', fields };
}

/** Buttons that open pages; each page once, under its first label. */
export function buttons(links: readonly { label: string; url: string }[]): Element {
  const actions = links
    .filter(({ url }, index) => links.findIndex((other) => other.url === url) === index)
    .filter(({ url }) => url.length <= limits.url)
    .slice(0, limits.buttons)
    .map(({ label, url }): Button => {
      return { tag: 'button', type: 'default', text: plainText(label, limits.label), url };
    });
  return { tag: 'action', actions };
}

function plainText(content: string, longest: number): PlainText {
  // A control character takes six bytes in JSON, and half a surrogate pair is no UTF-8 at all.
  const characters = [...content.toWellFormed().replaceAll(/[^\P{Cc}\n]/gu, ' ')];
  const clipped = characters.length > longest ? [...characters.slice(0, longest - 1), '…'] : characters;
  return { tag: 'plain_text', content: clipped.join('') };
}
