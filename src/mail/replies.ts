import type { ParsedMail as Mail } from 'mailparser';
import { mayBeAutoReply } from './classify.ts';
import { headerOf } from './read-source.ts';

/** What says that a mail answers another one. */
export interface AnswerSigns {
  /** The subject begins with `Re:`. */
  bySubject: boolean;
  /** In-Reply-To or References: forwards have them too, and forms whose mails are to be one thread. */
  byHeaders: boolean;
  /** A header that automatic answers have, and some forms. */
  byAutoReply: boolean;
}

export const replyPrefix = /^\s*(?:\[[^\]]*\]\s*)*(?:re|aw|sv|antw|res|rif)\s*(?:\[\d+\])?\s*:/i;

export function answerSigns(mail: Mail): AnswerSigns {
  const threads = ['in-reply-to', 'references'];
  return {
    bySubject: replyPrefix.test((mail.subject ?? '').slice(0, 200)),
    byHeaders: threads.some((name) => headerOf(mail, name) !== ''),
    byAutoReply: mayBeAutoReply(mail.headerLines),
  };
}

/** A longer line is no attribution and no header. */
const maxLine = 400;
const wrote =
  /\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|skrev|napisał\(a\)|napsal)(?![\p{L}]).{0,150}[:：]\s*$/iu;
/** A wrapped one must begin so: the line above one that isn't may be a field. */
const opensAttribution = /^(?:on|am|le|el|il|op|em|den|w dniu|\d)\b/i;
const dateOrAddress = /@|\d{4}|\d:\d\d/;
const originalMessage =
  /^[-_\s]*-{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original)\s*-{2,}/i;
/** What a mail program writes above a mail that is passed on, whatever the subject says. */
export const forwardedMessage =
  /^\s*(?:[-_]{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada)\b|begin forwarded message\s*:)/i;

const header = (names: string) => new RegExp(`^\\*?(?:${names})\\s*[:：]`, 'i');
const sender = header('from|von|de|da|van|fra|från');
const sent = header(
  'sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|inviato|data|verzonden|skickat|sendt|dato',
);
const about = header('subject|betreff|objet|asunto|oggetto|onderwerp|emne|ämne|assunto');

/**
 * What the sender of a reply wrote himself: its lines without those marked as quoted and without all that
 * stands below the head of a quotation. `undefined` where nothing is quoted, or where it is passed on.
 *
 * @param unquoted the lines without what HTML shows as quoted; `lines` itself where it shows nothing so
 */
export function ownWords(lines: readonly string[], unquoted: readonly string[]): string[] | undefined {
  const marked = unquoted.length < lines.length || unquoted.some(isMarked);
  const own: string[] = [];
  let quotes = false;
  for (let index = 0; index < unquoted.length; index++) {
    const line = unquoted[index] ?? '';
    if (!quotes && forwardedMessage.test(line.slice(0, maxLine))) return undefined;
    if (isMarked(line)) {
      quotes = true;
      continue;
    }
    const attribution = attributionLength(unquoted, index);
    if (attribution > 0 && marked) {
      // The marks tell what is quoted, so that words below it are seen too.
      quotes = true;
      index += attribution - 1;
    } else if (attribution > 0 || originalMessage.test(line.slice(0, maxLine)) || isHead(unquoted, index)) {
      return own;
    } else {
      own.push(line);
    }
  }
  return marked ? own : undefined;
}

function isMarked(line: string): boolean {
  return /^\s*>/.test(line);
}

/** `On Tuesday Ana <ana@x.example> wrote:`, which may be wrapped; 0 if none begins here. */
function attributionLength(lines: readonly string[], index: number): number {
  for (let length = 1; length <= 3; length++) {
    const part = lines.slice(index, index + length);
    const text = part.join(' ');
    if (text.length > maxLine || part.some((line) => line.trim() === '' || isMarked(line))) return 0;
    if (length > 1 && !opensAttribution.test(text)) return 0;
    if (wrote.test(text) && dateOrAddress.test(text)) return length;
  }
  return 0;
}

/** `From:`, `Sent:` and `Subject:` together: Outlook's head of a quotation. */
function isHead(lines: readonly string[], index: number): boolean {
  if (!sender.test((lines[index] ?? '').slice(0, maxLine))) return false;
  const block = lines.slice(index + 1, index + 7).map((line) => line.slice(0, maxLine));
  return block.some((line) => sent.test(line)) && block.some((line) => about.test(line));
}
