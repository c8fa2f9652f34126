import * as z from 'zod';

/** RingCentral's have some forty characters; an index of PostgreSQL takes no text of thousands. */
const longestId = 256;

const id = z.union([z.string(), z.number()]).transform(String);
const party = z
  .object({ phoneNumber: z.string().nullish(), extensionId: id.nullish(), extensionNumber: id.nullish() })
  .nullish();

/**
 * The body of a telephony-session webhook, as far as we read it. It goes into a queue message as it was read,
 * so what we don't read (callers' names) stays behind.
 */
export const telephonyEventSchema = z.object({
  uuid: z.string().nullish(),
  event: z.string().regex(/\/telephony\/sessions/),
  timestamp: z.string().nullish(),
  subscriptionId: z.string().nullish(),
  body: z.object({
    sequence: z.number().int(),
    sessionId: id.nullish(),
    telephonySessionId: z.string().min(1).max(longestId),
    eventTime: z.iso.datetime({ offset: true }),
    origin: z.object({ type: z.string().nullish() }).nullish(),
    parties: z
      .array(
        z.object({
          accountId: id.nullish(),
          extensionId: id.nullish(),
          id: z.string().min(1).max(longestId),
          direction: z.string().nullish(),
          from: party,
          to: party,
          status: z.object({ code: z.string().min(1), reason: z.string().nullish() }),
          recordings: z.array(z.object({ id, active: z.boolean().nullish() })).nullish(),
          queueCall: z.boolean().nullish(),
          missedCall: z.boolean().nullish(),
        }),
      )
      .min(1),
  }),
});
export type TelephonyEvent = z.infer<typeof telephonyEventSchema>;
export type TelephonyParty = TelephonyEvent['body']['parties'][number];
