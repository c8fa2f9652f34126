import { type AudioContent, openAudio } from './audio.ts';
import { type ApiCall, type CallApi, readAs } from './client.ts';
import type { Outcome } from './errors.ts';
import { type VoicemailMessage, voicemailMessageSchema } from './schemas.ts';

export interface MediaContext {
  accountId: string;
  telephonySessionId?: string;
}

/**
 * Recordings and voicemails. URIs are those that RingCentral returned, never built: the media host has changed
 * before. Sound comes as a stream that has to be read or destroyed, and fails at its deadline.
 */
export interface Media {
  /** @param deadlineMs for the whole download, default 90 s */
  openRecording(
    contentUri: string,
    context: MediaContext,
    options?: { deadlineMs?: number },
  ): Promise<Outcome<AudioContent>>;
  /** @param messageUri the call-log record's own `message.uri`: it may be another extension's */
  fetchVoicemail(messageUri: string, context: MediaContext): Promise<Outcome<VoicemailMessage>>;
  /** The text of an AudioTranscription attachment. */
  fetchTranscript(attachmentUri: string, context: MediaContext): Promise<Outcome<string>>;
  openVoicemailAudio(
    attachmentUri: string,
    context: MediaContext,
    options?: { deadlineMs?: number },
  ): Promise<Outcome<AudioContent>>;
}

const defaultDeadlineMs = 90_000;

export function createMedia(callApi: CallApi): Media {
  const open = (
    surface: ApiCall['surface'],
    uri: string,
    context: MediaContext,
    deadlineMs = defaultDeadlineMs,
  ) =>
    callApi<AudioContent>(
      { ...context, surface, uri, accept: '*/*', timeoutMs: deadlineMs },
      async (response) => {
        const audio = await openAudio(response);
        return typeof audio === 'string'
          ? { kind: 'retry', surface, reason: audio, status: response.status }
          : { kind: 'ok', value: audio };
      },
    );

  return {
    openRecording: (uri, context, options) => open('recording_content', uri, context, options?.deadlineMs),
    openVoicemailAudio: (uri, context, options) =>
      open('voicemail_transcript_content', uri, context, options?.deadlineMs),
    fetchVoicemail: (uri, context) => {
      const surface = 'voicemail_message_detail';
      return callApi({ ...context, surface, uri }, readAs(surface, voicemailMessageSchema));
    },
    fetchTranscript: (uri, context) => {
      const surface = 'voicemail_transcript_content';
      return callApi({ ...context, surface, uri, accept: '*/*' }, async (response) => {
        const text = await response.text().catch(() => undefined);
        return text === undefined || text.trim() === ''
          ? { kind: 'retry', surface, reason: 'incomplete_content', status: response.status }
          : { kind: 'ok', value: text };
      });
    },
  };
}
