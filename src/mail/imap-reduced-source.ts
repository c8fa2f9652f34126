import type { FetchMessageObject, FetchQueryObject, MessageStructureObject } from 'imapflow';

const megabyte = 1024 * 1024;
/** The most of one text part, and of all of them, that is fetched of an oversized mail. */
const textPartLimit = megabyte;
const textTotalLimit = 4 * megabyte;
/** Beyond this many MIME nodes the rest is left out: the request must fit one command line. */
const nodeLimit = 150;

/** A piece of the mail: bytes of ours, or a section to fetch, cut at `maxLength`. */
type Piece = string | { section: string; maxLength?: number; required: boolean };

/** How an oversized mail is read: its headers, its MIME tree, the text parts; every other body left empty. */
export interface ReducedSource {
  query: FetchQueryObject;
  /** The small RFC 822 source; `undefined` when the server left out a section that must be there. */
  assemble(row: FetchMessageObject): Buffer | undefined;
}

/**
 * Plans the reduced source by BODYSTRUCTURE. Header blocks and boundaries are the mail's own, so a parser
 * reads the same tree, and the bytes are the same at every poll (a mail without Message-ID is known by them).
 */
export function planReducedSource(root: MessageStructureObject): ReducedSource {
  const pieces = message(root, '', { bytes: textTotalLimit, nodes: nodeLimit });
  const sections = pieces.filter((piece) => typeof piece !== 'string');
  return {
    query: {
      headers: true,
      bodyParts: sections
        .filter(({ section }) => section !== 'HEADER')
        .map(({ section, maxLength }) => ({ key: section, ...(maxLength ? { maxLength } : {}) })),
    },
    assemble(row) {
      const bytes = pieces.map((piece) =>
        typeof piece === 'string' ? Buffer.from(piece) : read(row, piece),
      );
      return bytes.includes(undefined) ? undefined : Buffer.concat(bytes as Buffer[]);
    },
  };
}

function read(row: FetchMessageObject, piece: Exclude<Piece, string>): Buffer | undefined {
  const { section } = piece;
  const bytes = section === 'HEADER' ? row.headers : row.bodyParts?.get(section.toLowerCase());
  if (!bytes && piece.required) return undefined;
  return /(HEADER|MIME)$/.test(section) ? withBlankLine(bytes || Buffer.alloc(0)) : bytes || Buffer.alloc(0);
}

/** A header block ends in an empty line; a server that leaves it out would join headers and body. */
function withBlankLine(header: Buffer): Buffer {
  const text = header.subarray(-4).toString('latin1');
  if (/(^|\r?\n)\r?\n$/.test(text)) return header;
  return Buffer.concat([
    header,
    Buffer.from(header.length === 0 || text.endsWith('\n') ? '\r\n' : '\r\n\r\n'),
  ]);
}

interface Budget {
  bytes: number;
  nodes: number;
}

/** A mail, or a message/rfc822 part (`prefix` = its number and a dot): header, then body. */
function message(root: MessageStructureObject, prefix: string, budget: Budget): Piece[] {
  return [{ section: `${prefix}HEADER`, required: true }, ...body(root, `${prefix}TEXT`, budget)];
}

function body(node: MessageStructureObject, section: string, budget: Budget): Piece[] {
  const children = node.childNodes ?? [];
  const [inner] = children;
  if (node.type === 'message/rfc822' && inner && node.part) return message(inner, `${node.part}.`, budget);
  const boundary = node.parameters?.boundary;
  if (children.length > 0 && boundary) {
    return [
      ...children.flatMap((child): Piece[] => [`\r\n--${boundary}\r\n`, ...part(child, budget)]),
      `\r\n--${boundary}--\r\n`,
    ];
  }
  return text(node, section, budget);
}

function part(node: MessageStructureObject, budget: Budget): Piece[] {
  if (!node.part || budget.nodes <= 0) return ['\r\n'];
  budget.nodes -= 1;
  return [{ section: `${node.part}.MIME`, required: false }, ...body(node, node.part, budget)];
}

/** The body of a leaf, if a lead can stand in it and the budget allows. */
function text(node: MessageStructureObject, section: string, budget: Budget): Piece[] {
  const size = node.size ?? 0;
  const length = Math.min(size, textPartLimit);
  const wanted = isText(node) || (isXmlAttachment(node) && size <= textPartLimit);
  if (!wanted || length === 0 || length > budget.bytes) return [];
  budget.bytes -= length;
  return [{ section, maxLength: length, required: true }];
}

function isText({ type }: MessageStructureObject): boolean {
  return type === 'text/plain' || type === 'text/html' || type === 'text/xml';
}

/** ADF, the lead format of car dealers, travels as XML under many names. */
function isXmlAttachment({ type, parameters, dispositionParameters }: MessageStructureObject): boolean {
  const name = dispositionParameters?.filename ?? parameters?.name ?? '';
  return /^application\/(.+\+)?xml$/.test(type) || /\.(adf|xml)$/i.test(name);
}
