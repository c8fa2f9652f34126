import { splitName } from '../fields/name.ts';
import type { ReadLead } from './format.ts';
import { readLabelled } from './labelled.ts';

const viaPlatform = /^(.*?)\s+via\s+(?:google|yelp|angi|thumbtack|homeadvisor)\b/i;
const platform = /@(?:[\w-]+\.)*(?:yelp|angi|angieslist|homeadvisor|thumbtack|google)\.com$/i;

/** Google Local Services, Yelp, Angi: the person may be named only in `NAME via Yelp`, the sender's display name. */
export const servicePlatform: ReadLead = (mail) => {
  const via = viaPlatform.exec(mail.fromName)?.[1];
  if (via === undefined && !platform.test(mail.from)) return undefined;
  const reading = readLabelled(mail);
  if (reading?.kind !== 'lead' || reading.fields.firstName || reading.fields.lastName) return reading;
  return { ...reading, fields: { ...reading.fields, ...splitName(via ?? '') } };
};
