import type { RateLimitGroup } from './limiter.ts';

/** Every endpoint that the simulator has; names as in the product's logs where it calls them. */
export const simulatedSurfaces = {
  oauth_token: 'auth',
  account_call_log: 'heavy',
  extension_call_log: 'heavy',
  recording_metadata: 'heavy',
  recording_content: 'heavy',
  message_store_search: 'light',
  voicemail_message_detail: 'light',
  voicemail_transcript_content: 'medium',
  subscription: 'light',
} as const satisfies Record<string, RateLimitGroup>;

export type SimulatedSurface = keyof typeof simulatedSurfaces;

/** One request as the simulator saw it. */
export interface JournalEntry {
  /** Epoch milliseconds of the simulator's clock. */
  at: number;
  surface: SimulatedSurface;
  group: RateLimitGroup;
  /** The rate-limit bucket's owner: client id for `auth`, else account id. Empty for an unknown token. */
  owner: string;
  method: string;
  /** Path and query. */
  path: string;
  /** 0 when the connection was cut or left hanging. */
  status: number;
  insidePenalty: boolean;
}
