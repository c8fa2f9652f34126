import * as z from 'zod';

/**
 * What we read of RingCentral's answers, and nothing else: a snapshot kept in the database holds no names.
 * Only what the API guarantees is required; a field that is absent or null is undefined.
 */
const optional = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** Ids are numbers in some places and strings in others; they are compared as strings. */
const id = z.union([z.string().min(1), z.number()]).transform(String);

const partySchema = z.object({
  phoneNumber: optional(z.string()),
  extensionNumber: optional(z.string()),
  extensionId: optional(id),
});

const recordingSchema = z.object({
  id,
  contentUri: optional(z.string()),
});

const messageSchema = z.object({ id, type: optional(z.string()), uri: optional(z.string()) });

const callShape = {
  telephonySessionId: optional(z.string()),
  partyId: optional(z.string()),
  startTime: optional(z.string()),
  duration: optional(z.number()),
  durationMs: optional(z.number()),
  type: optional(z.string()),
  direction: optional(z.string()),
  action: optional(z.string()),
  result: optional(z.string()),
  reason: optional(z.string()),
  from: optional(partySchema),
  to: optional(partySchema),
  extension: optional(z.object({ id: optional(id) })),
  recording: optional(recordingSchema),
  shortRecording: optional(z.boolean()),
  message: optional(messageSchema),
};

const legSchema = z.object(callShape);

/** One record of the call log, `view=Detailed`; legs may be missing all the same. */
export const callLogRecordSchema = z.object({
  ...callShape,
  id,
  uri: z.string(),
  sessionId: id,
  deleted: optional(z.boolean()),
  lastModifiedTime: optional(z.string()),
  legs: optional(z.array(legSchema)),
});
export type CallLogRecord = z.infer<typeof callLogRecordSchema>;

/** A list's frame; its records are read one by one, so that one strange record doesn't hide the others. */
export const callLogPageSchema = z.object({
  records: z.array(z.unknown()),
  navigation: optional(z.object({ nextPage: optional(z.object({ uri: z.string() })) })),
});

/** The answer for several ids: a part each. */
export const recordPartsSchema = z.array(
  z.object({ resourceId: optional(id), status: z.number(), body: z.unknown() }),
);

/** What a session's snapshot is: the `calls` row keeps it as JSON. */
export const snapshotSchema = z.object({
  /** ISO 8601, when RingCentral answered. */
  fetchedAt: z.string(),
  /** `extension`: only what that extension can see. */
  coverage: z.enum(['account', 'extension']),
  records: z.array(callLogRecordSchema),
});
export type CallLogSnapshot = z.infer<typeof snapshotSchema>;

const attachmentSchema = z.object({
  id,
  uri: z.string(),
  type: optional(z.string()),
  contentType: optional(z.string()),
  vmDuration: optional(z.number()),
  size: optional(z.number()),
});

/** A voicemail in the Message Store. */
export const voicemailMessageSchema = z.object({
  id,
  type: optional(z.string()),
  from: optional(partySchema),
  creationTime: optional(z.string()),
  availability: optional(z.string()),
  vmTranscriptionStatus: optional(z.string()),
  subject: optional(z.string()),
  attachments: optional(z.array(attachmentSchema)),
});
export type VoicemailMessage = z.infer<typeof voicemailMessageSchema>;

/** A webhook subscription. */
export const subscriptionSchema = z.object({
  id: z.string(),
  status: optional(z.string()),
  eventFilters: optional(z.array(z.string())),
  disabledFilters: optional(
    z.array(z.object({ filter: optional(z.string()), reason: optional(z.string()) })),
  ),
  expirationTime: optional(z.string()),
  deliveryMode: optional(z.object({ transportType: optional(z.string()), address: optional(z.string()) })),
  blacklistedData: optional(z.object({ blacklistedAt: optional(z.string()), reason: optional(z.string()) })),
});
export type Subscription = z.infer<typeof subscriptionSchema>;

export const subscriptionListSchema = z.object({ records: z.array(subscriptionSchema) });

export const tokenSchema = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive(),
});
