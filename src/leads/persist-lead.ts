import { type AnyColumn, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { excluded } from '../db/excluded.ts';
import { leads } from '../db/schema/index.ts';
import type { LeadInput } from './lead.ts';
import { chosenLeadId } from './persist-lead-id.ts';

/** What a mail that names no type says; see src/leads/build-lead.ts. */
const unnamedType = 'Unknown';

/**
 * Inserts the lead under the chosen id, or completes the row that is there. NULL never overwrites a value, and
 * an older mail (a message redriven days later) never overwrites a newer one's. The store stays the first one.
 */
export function upsertLead(db: Database, { id: _seedId, ...lead }: LeadInput) {
  const namesBooking = lead.bookedDate !== null || lead.bookedTime !== null;
  const isNewer = sql`${excluded(leads.lastMailAt)} >= ${leads.lastMailAt}`;
  const namesNewerBooking = sql`${excluded(leads.bookedMailAt)} >= ${leads.bookedMailAt}`;
  // A known mail whose address belongs to another store meanwhile must not mix two stores in one row.
  const sameStore = sql`coalesce(${leads.storeId} = ${excluded(leads.storeId)}, true)`;
  const gainsStore = sql`${leads.storeId} is null and ${excluded(leads.storeId)} is not null`;

  return db
    .insert(leads)
    .values({
      ...lead,
      id: sql`${chosenLeadId}`,
      lastMailAt: lead.receivedAt,
      bookedMailAt: namesBooking ? lead.receivedAt : null,
    })
    .onConflictDoUpdate({
      target: leads.id,
      set: {
        leadType: sql`coalesce(${newest(isNewer, nullif(excluded(leads.leadType)), nullif(leads.leadType))}, ${unnamedType})`,
        franchiseId: keepUnless(sameStore, isNewer, leads.franchiseId),
        accountId: keepUnless(sameStore, isNewer, leads.accountId),
        storeId: sql`coalesce(${leads.storeId}, ${excluded(leads.storeId)})`,
        // 'unmapped' says that there is no store, which ends here.
        parseStatus: sql`case when ${gainsStore} then ${excluded(leads.parseStatus)} else ${leads.parseStatus} end`,
        bookedDate: newest(namesNewerBooking, excluded(leads.bookedDate), leads.bookedDate),
        bookedTime: newest(namesNewerBooking, excluded(leads.bookedTime), leads.bookedTime),
        bookedMailAt: sql`greatest(${leads.bookedMailAt}, ${excluded(leads.bookedMailAt)})`,
        lastMailAt: sql`greatest(${leads.lastMailAt}, ${excluded(leads.lastMailAt)})`,
        syncedAt: sql`now()`,
      },
    });
}

const nullif = (value: SQL | AnyColumn) => sql`nullif(${value}, ${unnamedType})`;

/** The newer value, or the one that there is. */
function newest(incomingIsNewer: SQL, incoming: SQL, stored: SQL | AnyColumn): SQL {
  return sql`case when ${incomingIsNewer} then coalesce(${incoming}, ${stored}) else coalesce(${stored}, ${incoming}) end`;
}

function keepUnless(condition: SQL, isNewer: SQL, column: AnyColumn): SQL {
  return sql`case when ${condition} then ${newest(isNewer, excluded(column), column)} else ${column} end`;
}
