import type { LeadMailRow, LeadRow } from '../db/schema/index.ts';
import type { LeadInput, LedgerMail } from './lead.ts';

/** One mail's facts: its ledger line, and the lead it tells of (null for skipped and quarantined mail). */
export interface MailRecord {
  mail: LedgerMail;
  lead: LeadInput | null;
}

/** What the database holds after the write: the ledger row, and the lead it points to. */
export interface PersistedMail {
  mail: LeadMailRow;
  lead: LeadRow | null;
}
