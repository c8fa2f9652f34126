import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * A party's number as E.164. RingCentral's come plain, without "+", or formatted; without a country they are
 * North American. Extensions, short codes and anonymous callers are undefined. Possible is enough: a number that
 * the telephone network has shown exists, whatever the library's tables say.
 */
export function normaliseNumber(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  const number = parsePhoneNumberFromString(text, 'US');
  return number?.isPossible() ? number.number : undefined;
}
