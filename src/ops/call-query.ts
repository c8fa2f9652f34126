import { readPhone } from '../mail/fields/phone.ts';
import { UsageError } from './command-line.ts';

/** Which calls an operator looks for. */
export type CallQuery =
  | { kind: 'telephony session'; telephonySessionId: string }
  | { kind: 'phone'; phone: string };

/** @throws UsageError */
export function parseCallQuery(text: string): CallQuery {
  const typed = text.trim();
  // RingCentral's ids begin so ("s-a1b2…"), and no number does.
  if (/^s-[\w-]+$/i.test(typed)) return { kind: 'telephony session', telephonySessionId: typed };
  const phone = readPhone(typed, 'US')?.number;
  if (phone) return { kind: 'phone', phone };
  throw new UsageError(`'${text}' is no telephony session id (s-…) and no phone number.`);
}
