import type { ParsedMail as Mail } from 'mailparser';

/** A mail taken apart: decoded and cleaned bodies, and the parts that may hold a lead of their own. */
export interface SourceMail {
  mail: Mail;
  /** In order of preference: plain text, HTML, textual attachments. */
  bodies: SourceBody[];
  /** Messages forwarded as attachments. */
  embedded: Buffer[];
  /** MIME types of the parts that are no text. */
  partTypes: string[];
  /** A calendar part calls an event off. */
  cancelsEvent: boolean;
}

export interface SourceBody {
  kind: 'text' | 'html' | 'attachment';
  text: string;
}
