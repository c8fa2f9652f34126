import type { Audio } from './audio.ts';

/** Times are epoch milliseconds of the simulator's clock. Tests and scenarios may change all of it while it runs. */
export interface SimulatedCall {
  accountId: string;
  telephonySessionId: string;
  endedAt: number;
  records: SimulatedRecord[];
  recordings: SimulatedRecording[];
  voicemails: SimulatedVoicemail[];
  /** The telephony-session notifications of this call, oldest first. */
  events: TelephonyEvent[];
}

export interface SimulatedParty {
  phoneNumber?: string;
  name?: string;
  extensionNumber?: string;
  extensionId?: string;
}

/** What record and leg have in common in the call log. */
export interface SimulatedLeg {
  partyId: string;
  startedAt: number;
  durationMs: number;
  type: 'Voice' | 'Fax';
  direction: 'Inbound' | 'Outbound';
  action: string;
  result: string;
  from?: SimulatedParty;
  to?: SimulatedParty;
  extensionId?: string;
  recording?: { id: string; type: 'Automatic' | 'OnDemand' };
  shortRecording?: boolean;
  voicemailId?: number;
  legType?: string;
}

export interface SimulatedRecord extends SimulatedLeg {
  id: string;
  sessionId: string;
  legs: SimulatedLeg[];
  /** From when on the call log lists it. */
  visibleAt: number;
  /** From when on it and its legs carry `recording`. */
  recordingVisibleAt: number;
  /** Laid over the finished JSON, for shapes that are rare in the wild. */
  overrides?: Record<string, unknown>;
  /** The whole JSON, as somebody's own call log has it: only its addresses become the simulator's. */
  raw?: Record<string, unknown>;
}

export interface SimulatedRecording {
  id: string;
  audio: Audio;
  /** From when on its content can be fetched; 404 before. */
  contentAt: number;
  deleted?: boolean;
  /** What the content's header says; default by the format. `null` = no header. */
  contentType?: string | null;
}

export interface SimulatedVoicemail {
  id: number;
  extensionId: string;
  from?: SimulatedParty;
  createdAt: number;
  audio: Audio;
  /** What the transcription ends as at `transcribedAt`; `InProgress` until then. */
  transcription: 'NotAvailable' | 'TimedOut' | 'Completed' | 'CompletedPartially' | 'Failed' | 'Unknown';
  transcribedAt: number;
  transcript: string;
  availability: 'Alive' | 'Deleted' | 'Purged';
}

export interface TelephonyEvent {
  uuid: string;
  event: string;
  timestamp: string;
  subscriptionId: string;
  ownerId: string;
  body: {
    sequence: number;
    sessionId: string;
    telephonySessionId: string;
    serverId: string;
    eventTime: string;
    origin: { type: string };
    parties: TelephonyParty[];
  };
}

export interface TelephonyParty {
  accountId: string;
  extensionId?: string;
  id: string;
  direction: 'Inbound' | 'Outbound';
  from: SimulatedParty;
  to: SimulatedParty;
  status: { code: string; reason?: string; rcc: boolean };
  recordings?: { id: string; active: boolean }[];
  queueCall?: boolean;
  missedCall: boolean;
  standAlone: boolean;
  muted: boolean;
}
