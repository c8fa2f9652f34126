/** The part of LeadCreated that contact, task and timeline are made of. */
export interface NewLead {
  /** The lead row's id. It holds e-mail and phone: never for a log. */
  id: string;
  leadType: string;
  firstName: string | null;
  lastName: string | null;
  /** E.164. */
  phone: string;
  franchiseId: string;
  accountId: string;
  storeId: string;
  /** When the lead's first mail arrived. */
  receivedAt: Date;
  /** The mail that this event is about. */
  mailKey: string;
  mailReceivedAt: Date;
  /** Another mail of this lead was there before. */
  repeat: boolean;
}
