/** Who a task or a timeline row is about: phone and store are the identity, the rest is audit. */
export interface ContactIdentity {
  contactPhone: string;
  franchiseId: string;
  accountId: string;
  storeId: string;
}

/** The identity block of every row about a contact. `phone` is E.164. */
export function buildContactPhoneIdentityFields({
  phone,
  franchiseId,
  accountId,
  storeId,
}: {
  phone: string;
  franchiseId: string;
  accountId: string;
  storeId: string;
}): ContactIdentity {
  return { contactPhone: phone, franchiseId, accountId, storeId };
}
