import * as z from 'zod';

/**
 * One item of StoresV2. Typed by hand: what only one rule reads is checked there, so that a slip in a time zone doesn't take the whole
 * store away.
 */
export const storeSchema = z.object({
  storeId: z.guid(),
  leadEmail: z.string().min(1),
  franchise: z.string().min(1),
  providerAccountId: z.coerce.string().min(1),
  trackingId: z.coerce.string().optional(),
  timeZone: z.unknown().optional(),
  quietHours: z.unknown().optional(),
  phoneNumbers: z.unknown().optional(),
});
export type Store = z.output<typeof storeSchema>;

/**
 * The brand in a franchise name: what is left without a final `-`, `_`, space or `#` and a store code that
 * holds a digit. 'orangeTheory-0421' -> 'orangeTheory'; 'British Swim School' stays as it is.
 */
export function parseBrandFromFranchise(franchise: string): string {
  const name = franchise.trim();
  const brand = name.replace(/[-_ #]+(?=[^-_ #]*\d)[^-_ #]+$/, '').trim();
  return brand === '' ? name : brand;
}

/**
 * Is this one of the store's own numbers? Then it is not the lead's: staff would be told to call themselves.
 *
 * @param phone E.164
 */
export function isStoreNumber({ phoneNumbers }: Store, phone: string): boolean {
  const listed =
    phoneNumbers instanceof Set || Array.isArray(phoneNumbers) ? [...phoneNumbers] : [phoneNumbers];
  return listed.some((number) => {
    const digits = String(number ?? '').replace(/\D/g, '');
    // Ten digits are a whole number without its country code.
    return digits.length >= 10 && phone.endsWith(digits);
  });
}
