/** RingCentral's rate-limit groups; what shares a group shares a bucket. */
export type RateLimitGroup = 'light' | 'medium' | 'heavy' | 'auth';

/** What a failed request does to its caller, as the log has it. */
export type ClientErrorAction = 'throw' | 'return_undefined';

/**
 * The HTTP surfaces, by the names that dashboards know. A voicemail's attachments (sound and transcript) are
 * one endpoint, hence one surface. Failures of the Message Store other than 429 don't block a message.
 */
export const surfaces = {
  account_call_log: { group: 'heavy', onError: 'throw' },
  extension_call_log: { group: 'heavy', onError: 'throw' },
  recording_content: { group: 'heavy', onError: 'throw' },
  voicemail_message_detail: { group: 'light', onError: 'return_undefined' },
  voicemail_transcript_content: { group: 'medium', onError: 'return_undefined' },
  oauth_token: { group: 'auth', onError: 'throw' },
  subscription: { group: 'light', onError: 'throw' },
} as const satisfies Record<string, { group: RateLimitGroup; onError: ClientErrorAction }>;

export type ApiSurface = keyof typeof surfaces;
