import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { leadMails, leads } from '../db/schema/index.ts';
import type { LeadInput } from './lead.ts';

/**
 * The lead that the batch is about, decided once by one of its statements and kept in a setting that ends
 * with the transaction: statements of a batch can't see each other's results otherwise.
 */
export const chosenLeadId = sql<string | null>`nullif(current_setting('callytics.lead_id', true), '')`;

/** Decides what `chosenLeadId` is for the rest of the batch; NULL for none. */
export function choose(db: Database, id: SQL) {
  return db.execute(sql`select set_config('callytics.lead_id', ${id}, true)`);
}

/** The lead that this mail's line points to already. A mail that is read again forgets it. */
export function knownLeadId(mailKey: string, reread: boolean): SQL {
  return reread
    ? sql`null`
    : sql`(select ${leadMails.leadId} from ${leadMails} where ${leadMails.mailKey} = ${mailKey})`;
}

/**
 * Decides under which id a mail's lead lives, so that nobody is swallowed by a key: the seed's id; beside
 * another store's lead of that id `{id}#{storeId}`; and, where the id is no more than e-mail and second,
 * beside another mail's lead `{id}#{first 12 hex digits of mail_key}`. Runs under the lock on the seed's id.
 */
export function chooseLeadId(db: Database, mailKey: string, lead: LeadInput, reread: boolean) {
  const { id, storeId } = lead;
  const ofStore = `${id}#${storeId}`;
  const ofMail = `${id}#${mailKey.slice(0, 12)}`;
  const exists = (leadId: string) => sql`exists (select from ${leads} where ${leads.id} = ${leadId})`;
  const isOwn = (leadId: string) =>
    sql`exists (select from ${leadMails} where ${leadMails.mailKey} = ${mailKey} and ${leadMails.leadId} = ${leadId})`;
  const belongsToOtherStore = sql`exists (select from ${leads} where ${leads.id} = ${id} and ${leads.storeId} <> ${storeId}::uuid)`;

  const resolved = lead.phone
    ? sql`case when ${belongsToOtherStore} then ${ofStore} else ${id} end`
    : sql`case
        when ${belongsToOtherStore} then case when ${exists(ofStore)} and not ${isOwn(ofStore)} then ${ofMail} else ${ofStore} end
        when ${exists(id)} and not ${isOwn(id)} then ${ofMail}
        else ${id}
      end`;
  return choose(db, sql`coalesce(${knownLeadId(mailKey, reread)}, ${resolved})`);
}
