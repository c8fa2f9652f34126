import type { LeadFields } from '../parsed-mail.ts';

/** Whether two forms surely are of two people: both name somebody and how to reach him, and nothing agrees. */
export function areTwoPeople(one: LeadFields, other: LeadFields): boolean {
  if (!isPerson(one) || !isPerson(other)) return false;
  const agrees = (key: 'phone' | 'email') => one[key] !== undefined && one[key] === other[key];
  return !agrees('phone') && !agrees('email') && nameOf(one) !== nameOf(other);
}

function isPerson({ phone, email, ...fields }: LeadFields): boolean {
  return nameOf(fields) !== '' && (phone ?? email) !== undefined;
}

function nameOf({ firstName = '', lastName = '' }: LeadFields): string {
  return `${firstName} ${lastName}`.trim().toLowerCase();
}
