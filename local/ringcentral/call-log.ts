import { apiError, json, notFound, type Reply, type SimulatedRequest } from './replies.ts';
import type { SimulatedCall, SimulatedLeg, SimulatedRecord } from './world.ts';

const dayMs = 24 * 60 * 60_000;
const multipartJson = 'application/vnd.ringcentral.multipart+json';

type Found = { call: SimulatedCall; record: SimulatedRecord };

/** `GET …/call-log`: filters, paging, and the default window of the 24 hours before dateTo. */
export function listCallLog(calls: SimulatedCall[], request: SimulatedRequest, extensionId?: string): Reply {
  const query = request.url.searchParams;
  const dateTo = query.has('dateTo') ? Date.parse(query.get('dateTo') ?? '') : request.now;
  const dateFrom = query.has('dateFrom') ? Date.parse(query.get('dateFrom') ?? '') : dateTo - dayMs;
  const perPageText = query.get('perPage') ?? '100';
  const perPage = perPageText === 'max' ? 1000 : Number(perPageText);
  const page = Number(query.get('page') ?? '1');
  if (Number.isNaN(dateFrom) || Number.isNaN(dateTo)) return badParameter('dateFrom');
  if (!(perPage >= 1 && perPage <= 1000)) return badParameter('perPage');
  if (!(page >= 1)) return badParameter('page');

  const session = query.get('telephonySessionId');
  const type = query.get('type');
  const matching = visible(calls, request, extensionId)
    .filter(({ record }) => record.startedAt >= dateFrom && record.startedAt <= dateTo)
    .filter(({ call }) => session === null || call.telephonySessionId === session)
    .filter(({ record }) => type === null || record.type === type)
    .sort((a, b) => b.record.startedAt - a.record.startedAt);
  const records = matching.slice((page - 1) * perPage, page * perPage);
  const pageUri = (number: number) => {
    const url = new URL(request.url);
    url.searchParams.set('page', String(number));
    url.searchParams.set('perPage', String(perPage));
    return { uri: `${request.platform}${url.pathname}${url.search}` };
  };
  return json(200, {
    uri: pageUri(page).uri,
    records: records.map((found) => recordJson(found, request)),
    paging: {
      page,
      perPage,
      ...(records.length > 0
        ? { pageStart: (page - 1) * perPage, pageEnd: (page - 1) * perPage + records.length - 1 }
        : {}),
    },
    navigation: {
      firstPage: pageUri(1),
      ...(page * perPage < matching.length ? { nextPage: pageUri(page + 1) } : {}),
      ...(page > 1 ? { previousPage: pageUri(page - 1) } : {}),
    },
  });
}

/** `GET …/call-log/{id[,id…]}`: one record, or 207 with a part per id; at most 50. */
export function recordsById(calls: SimulatedCall[], request: SimulatedRequest, ids: string[]): Reply {
  if (ids.length > 50) return badParameter('callRecordId');
  const listed = visible(calls, request);
  const find = (id: string): Reply => {
    const found = listed.find(({ record }) => record.id === id);
    return found ? json(200, recordJson(found, request)) : notFound('callRecordId');
  };
  const [first] = ids;
  if (first !== undefined && ids.length === 1) return find(first);
  if (!request.accept.includes(multipartJson)) return apiError(406, 'CMN-201');
  const parts = ids.map((resourceId) => {
    const { status, body } = find(resourceId);
    return {
      resourceId,
      status,
      responseDescription: status === 200 ? 'OK' : 'Not Found',
      body: JSON.parse(String(body)),
    };
  });
  return json(207, parts, multipartJson);
}

function visible(calls: SimulatedCall[], request: SimulatedRequest, extensionId?: string): Found[] {
  return calls
    .filter(({ accountId }) => accountId === request.accountId)
    .flatMap((call) => call.records.map((record) => ({ call, record })))
    .filter(({ record }) => record.visibleAt <= request.now)
    .filter(({ record }) => extensionId === undefined || extensionsOf(record).includes(extensionId));
}

const extensionsOf = (record: SimulatedRecord) =>
  [record, ...record.legs].flatMap(({ extensionId, from, to }) => [
    extensionId,
    from?.extensionId,
    to?.extensionId,
  ]);

function recordJson({ call, record }: Found, request: SimulatedRequest): Record<string, unknown> {
  if (record.raw) return withOwnAddresses(record.raw, call, request);
  const root = `${request.platform}/restapi/v1.0/account/${call.accountId}`;
  const detailed = request.url.searchParams.get('view') === 'Detailed';
  const inProgress = request.now < call.endedAt;
  return {
    uri: `${root}/call-log/${record.id}?view=${detailed ? 'Detailed' : 'Simple'}`,
    id: record.id,
    sessionId: record.sessionId,
    ...legJson(record, call, record, request),
    ...(inProgress ? { result: 'In Progress' } : {}),
    ...(detailed
      ? {
          lastModifiedTime: new Date(lastModified(record, call, request.now)).toISOString(),
          legs: record.legs.map((leg, index) => ({
            legType: leg.legType ?? 'Unknown',
            ...(index === 0 ? { master: true } : {}),
            ...legJson(leg, call, record, request),
          })),
        }
      : {}),
    ...record.overrides,
  };
}

function legJson(leg: SimulatedLeg, call: SimulatedCall, record: SimulatedRecord, request: SimulatedRequest) {
  const root = `${request.platform}/restapi/v1.0/account/${call.accountId}`;
  const recording = request.now >= record.recordingVisibleAt ? leg.recording : undefined;
  const voicemail = call.voicemails.find(({ id }) => id === leg.voicemailId);
  return {
    telephonySessionId: call.telephonySessionId,
    partyId: leg.partyId,
    startTime: new Date(leg.startedAt).toISOString(),
    duration: Math.round(leg.durationMs / 1000),
    durationMs: leg.durationMs,
    type: leg.type,
    direction: leg.direction,
    action: leg.action,
    result: leg.result,
    transport: 'PSTN',
    ...(leg.from ? { from: leg.from } : {}),
    ...(leg.to ? { to: leg.to } : {}),
    ...(leg.extensionId
      ? { extension: { id: Number(leg.extensionId), uri: `${root}/extension/${leg.extensionId}` } }
      : {}),
    ...(recording
      ? {
          recording: {
            ...recording,
            uri: `${root}/recording/${recording.id}`,
            contentUri: `${request.media}/restapi/v1.0/account/${call.accountId}/recording/${recording.id}/content`,
          },
        }
      : {}),
    ...(leg.shortRecording ? { shortRecording: true } : {}),
    ...(voicemail
      ? {
          message: {
            id: String(voicemail.id),
            type: 'VoiceMail',
            uri: `${root}/extension/${voicemail.extensionId}/message-store/${voicemail.id}`,
          },
        }
      : {}),
  };
}

/** A record whose recordings and voicemails are to be had here. One without a contentUri isn't ready, and stays so. */
function withOwnAddresses(
  raw: Record<string, unknown>,
  call: SimulatedCall,
  { platform, media }: SimulatedRequest,
): Record<string, unknown> {
  const account = `/restapi/v1.0/account/${call.accountId}`;
  const text = JSON.stringify(raw, (key, value) => {
    if (key === 'recording' && typeof value?.id === 'string') {
      const uri = `${platform}${account}/recording/${value.id}`;
      const contentUri = `${media}${account}/recording/${value.id}/content`;
      return { ...value, uri, ...(value.contentUri ? { contentUri } : {}) };
    }
    const voicemail = key === 'message' && call.voicemails.find(({ id }) => String(id) === String(value?.id));
    if (!voicemail) return value;
    const uri = `${platform}${account}/extension/${voicemail.extensionId}/message-store/${voicemail.id}`;
    return { ...value, uri };
  });
  return JSON.parse(text);
}

/** The last thing that happened to the record: it was listed, or its recording came. */
function lastModified(record: SimulatedRecord, call: SimulatedCall, now: number): number {
  const past = [call.endedAt, record.visibleAt, record.recordingVisibleAt].filter((at) => at <= now);
  return Math.max(record.startedAt, ...past);
}

const badParameter = (parameterName: string): Reply => apiError(400, 'CMN-101', { parameterName });
