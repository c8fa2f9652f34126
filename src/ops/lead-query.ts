import { readEmail } from '../mail/fields/email.ts';
import { readPhone } from '../mail/fields/phone.ts';
import { UsageError } from './command-line.ts';

/** Whom an operator looks for. */
export type LeadQuery =
  | { kind: 'mail key'; mailKey: string }
  | { kind: 'lead id'; leadId: string }
  | { kind: 'e-mail'; email: string }
  | { kind: 'phone'; phone: string };

/**
 * The normal form of what was typed. A phone number may be written in any way, without country code as in the US.
 *
 * @throws UsageError
 */
export function parseLeadQuery(text: string): LeadQuery {
  const typed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(typed)) return { kind: 'mail key', mailKey: typed.toLowerCase() };
  // An id begins with an address, or with nothing where the mail had none.
  if (typed.includes('#')) return { kind: 'lead id', leadId: typed };
  const email = readEmail(typed);
  if (email) return { kind: 'e-mail', email };
  const phone = readPhone(typed, 'US')?.number;
  if (phone) return { kind: 'phone', phone };
  throw new UsageError(`'${text}' is no lead id, mail key, e-mail address or phone number.`);
}
