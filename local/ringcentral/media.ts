import { type Audio, audioBytes, audioStream } from './audio.ts';
import { json, notFound, type Reply, type SimulatedRequest } from './replies.ts';
import type { SimulatedCall, SimulatedRecording, SimulatedVoicemail } from './world.ts';

const contentTypes = { mp3: 'audio/mpeg', wav: 'audio/wav' } as const;

/** `GET …/recording/{id}`: metadata. */
export function recordingMetadata(calls: SimulatedCall[], request: SimulatedRequest, id: string): Reply {
  const recording = findRecording(calls, request, id);
  if (!recording || recording.deleted) return notFound('recordingId');
  return json(200, {
    id,
    contentUri: `${request.media}/restapi/v1.0/account/${request.accountId}/recording/${id}/content`,
    contentType: recording.contentType ?? contentTypes[recording.audio.format],
    duration: Math.round(recording.audio.seconds),
  });
}

/** `GET media…/recording/{id}/content`: 404 until the file is there, and again once it is deleted. */
export function recordingContent(calls: SimulatedCall[], request: SimulatedRequest, id: string): Reply {
  const recording = findRecording(calls, request, id);
  if (!recording || recording.deleted || request.now < recording.contentAt) return notFound('recordingId');
  return audioReply(recording.audio, recording.contentType);
}

function findRecording(
  calls: SimulatedCall[],
  request: SimulatedRequest,
  id: string,
): SimulatedRecording | undefined {
  return calls
    .filter(({ accountId }) => accountId === request.accountId)
    .flatMap(({ recordings }) => recordings)
    .find((recording) => recording.id === id);
}

/** Messages of one extension, newest first. */
export function listVoicemails(
  calls: SimulatedCall[],
  request: SimulatedRequest,
  extensionId: string,
): Reply {
  const dayAgo = request.now - 24 * 60 * 60_000;
  const from = request.url.searchParams.get('dateFrom');
  const since = from === null ? dayAgo : Date.parse(from);
  const records = voicemailsOf(calls, request, extensionId)
    .filter(({ createdAt, availability }) => createdAt >= since && availability === 'Alive')
    .map((voicemail) => voicemailJson(voicemail, request));
  return json(200, {
    uri: `${request.platform}${request.url.pathname}${request.url.search}`,
    records,
    paging: { page: 1, perPage: 100 },
    navigation: {},
  });
}

/** `GET …/message-store/{id}`. */
export function voicemailDetail(
  calls: SimulatedCall[],
  request: SimulatedRequest,
  extensionId: string,
  id: string,
): Reply {
  const voicemail = voicemailsOf(calls, request, extensionId).find((message) => String(message.id) === id);
  return voicemail ? json(200, voicemailJson(voicemail, request)) : notFound('messageId');
}

/** `GET media…/message-store/{id}/content/{attachmentId}`: the sound, or the transcript. */
export function voicemailContent(
  calls: SimulatedCall[],
  request: SimulatedRequest,
  extensionId: string,
  id: string,
  attachmentId: string,
): Reply {
  const voicemail = voicemailsOf(calls, request, extensionId).find((message) => String(message.id) === id);
  if (!voicemail || voicemail.availability === 'Purged') return notFound('attachmentId');
  if (attachmentId === String(voicemail.id)) {
    return audioReply(voicemail.audio, voicemail.audio.format === 'wav' ? 'audio/x-wav' : undefined);
  }
  if (attachmentId !== String(transcriptId(voicemail)) || !hasTranscript(voicemail, request.now)) {
    return notFound('attachmentId');
  }
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: voicemail.transcript,
  };
}

function voicemailsOf(
  calls: SimulatedCall[],
  request: SimulatedRequest,
  extensionId: string,
): SimulatedVoicemail[] {
  return calls
    .filter(({ accountId }) => accountId === request.accountId)
    .flatMap(({ voicemails }) => voicemails)
    .filter((voicemail) => voicemail.extensionId === extensionId);
}

const transcriptId = ({ id }: SimulatedVoicemail) => id + 1;

const hasTranscript = ({ transcription, transcribedAt }: SimulatedVoicemail, now: number) =>
  now >= transcribedAt && (transcription === 'Completed' || transcription === 'CompletedPartially');

function voicemailJson(voicemail: SimulatedVoicemail, request: SimulatedRequest) {
  const uri = `/restapi/v1.0/account/${request.accountId}/extension/${voicemail.extensionId}/message-store/${voicemail.id}`;
  const attachment = (id: number, more: Record<string, unknown>) => ({
    id,
    uri: `${request.media}${uri}/content/${id}`,
    ...more,
  });
  const done = request.now >= voicemail.transcribedAt;
  const recipient = { extensionId: voicemail.extensionId, name: 'Dana Roe' };
  return {
    id: voicemail.id,
    uri: `${request.platform}${uri}`,
    extensionId: voicemail.extensionId,
    type: 'VoiceMail',
    direction: 'Inbound',
    ...(voicemail.from ? { from: voicemail.from } : {}),
    to: [recipient],
    vmSideRecipients: [recipient],
    creationTime: new Date(voicemail.createdAt).toISOString(),
    lastModifiedTime: new Date(
      done ? Math.max(voicemail.createdAt, voicemail.transcribedAt) : voicemail.createdAt,
    ).toISOString(),
    readStatus: 'Unread',
    priority: 'Normal',
    availability: voicemail.availability,
    messageStatus: 'Received',
    subject: 'Voice message',
    vmTranscriptionStatus: done ? voicemail.transcription : 'InProgress',
    attachments:
      voicemail.availability === 'Purged'
        ? []
        : [
            attachment(voicemail.id, {
              type: 'AudioRecording',
              contentType: contentTypes[voicemail.audio.format],
              vmDuration: Math.round(voicemail.audio.seconds),
              size: audioBytes(voicemail.audio),
            }),
            ...(hasTranscript(voicemail, request.now)
              ? [
                  attachment(transcriptId(voicemail), {
                    type: 'AudioTranscription',
                    contentType: 'text/plain',
                    fileName: 'transcription',
                  }),
                ]
              : []),
          ],
  };
}

function audioReply(audio: Audio, contentType: string | null = contentTypes[audio.format]): Reply {
  return {
    status: 200,
    ...(contentType === null ? {} : { headers: { 'content-type': contentType } }),
    body: { bytes: audioBytes(audio), stream: audioStream(audio) },
  };
}
