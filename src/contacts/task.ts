import { randomUUID } from 'node:crypto';
import type { tasks } from '../db/schema/index.ts';
import type { ContactHours } from './contact-hours.ts';
import { computeDueAt } from './due-at.ts';
import { buildContactPhoneIdentityFields } from './identity.ts';
import type { NewLead } from './new-lead.ts';

/** A new lead is called back within five minutes: after that the chance to reach the person falls. */
const leadSlaMinutes = 5;

type TaskValues = typeof tasks.$inferInsert;

/**
 * The task that a new lead gives to the store's staff.
 *
 * @param now the start of the five minutes
 * @param hours the store's zone and quiet hours
 */
export function buildLeadTask(lead: NewLead, now: Date, hours: ContactHours): TaskValues {
  const { leadType, firstName, lastName } = lead;
  return {
    taskId: randomUUID(),
    ...buildContactPhoneIdentityFields(lead),
    taskType: 'lead_outreach',
    typeCategory: 'lead_outreach',
    sourceType: 'lead',
    sourceLeadId: lead.id,
    status: 'pending',
    priority: 'high',
    actionNeeded: true,
    actionNeededReason: `New ${leadType} from ${firstName || 'unknown'} ${lastName || ''}`.trim(),
    suggestedActions: [
      {
        action: 'call_back',
        priority: 'high',
        text: `Call this new lead back within the ${leadSlaMinutes}-minute golden window.`,
      },
    ],
    dueAt: computeDueAt('high', now, { slaMinutes: leadSlaMinutes, ...hours }),
  };
}
