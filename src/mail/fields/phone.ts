import parsePhoneNumber, { type CountryCode, findPhoneNumbersInText } from 'libphonenumber-js/max';

export interface Phone {
  /** E.164. */
  number: string;
  extension?: string;
}

const maxLength = 250;
/** Two numbers in one field; a comma or semicolon before an extension parts nothing. */
const separators = /[,;/|\n](?!\s*(?:e?xt?\b|ext\.?|x\d|#))|\s(?:or|and)\s/i;

/**
 * The first valid number in a labelled value; `undefined` when libphonenumber calls none of them valid.
 * `defaultCountry` is meant for numbers without a country code.
 */
export function readPhone(value: string, defaultCountry: CountryCode): Phone | undefined {
  const text = value.slice(0, maxLength).replace(/\+{2,}/g, '+');
  for (const piece of [...text.split(separators), text]) {
    const phone = parsePiece(piece.trim(), defaultCountry);
    if (phone) return phone;
  }
  return undefined;
}

function parsePiece(piece: string, defaultCountry: CountryCode): Phone | undefined {
  const candidate = nationalAfterPlus(withoutSpreadsheetFraction(piece));
  const whole = parsePhoneNumber(candidate, { defaultCountry });
  if (whole?.isValid()) return toPhone(whole);
  // `00`, the other way to write the plus: no number that is dialled as it stands begins so in North America.
  const international = parsePhoneNumber(candidate.replace(/^\(?00(?=[\s().-]*[1-9])\)?/, '+'), {
    defaultCountry,
  });
  if (international?.isValid()) return toPhone(international);
  const found = findPhoneNumbersInText(candidate, { defaultCountry })[0]?.number;
  return found?.isValid() ? toPhone(found) : undefined;
}

function toPhone({ number, ext }: { number: string; ext?: string }): Phone {
  return ext ? { number, extension: ext } : { number };
}

/** A spreadsheet exports a number as `2125550147.0`. */
function withoutSpreadsheetFraction(piece: string): string {
  return /^\+?\d{10,15}\.0$/.test(piece) ? piece.slice(0, -2) : piece;
}

/**
 * `+2125550147`: a plus in front of a North American national number is not Morocco's 212. Ten digits in one
 * run or in groups that begin with an area code are read without the plus.
 */
function nationalAfterPlus(piece: string): string {
  const groups = /^\+[\d\s().-]+$/.test(piece) ? (piece.match(/\d+/g) ?? []) : [];
  if (groups.join('').length !== 10 || (groups.length > 1 && groups[0]?.length !== 3)) return piece;
  const national = parsePhoneNumber(groups.join(''), { defaultCountry: 'US' });
  return national?.isValid() ? national.number : piece;
}
