import { listCallLog, recordsById } from './call-log.ts';
import type { RateLimitGroup } from './limiter.ts';
import {
  listVoicemails,
  recordingContent,
  recordingMetadata,
  voicemailContent,
  voicemailDetail,
} from './media.ts';
import type { Reply, SimulatedRequest } from './replies.ts';
import type { Subscriptions } from './subscriptions.ts';
import { type SimulatedSurface, simulatedSurfaces } from './surfaces.ts';
import type { SimulatedCall } from './world.ts';

export interface Route {
  surface: SimulatedSurface;
  group: RateLimitGroup;
  answer(
    calls: SimulatedCall[],
    request: SimulatedRequest,
    subscriptions: Subscriptions,
  ): Reply | Promise<Reply>;
}

interface Pattern {
  method: string;
  path: RegExp;
  surface: SimulatedSurface;
  group?: RateLimitGroup;
  answer(
    parts: string[],
    calls: SimulatedCall[],
    request: SimulatedRequest,
    subscriptions: Subscriptions,
  ): Reply | Promise<Reply>;
}

const account = '^/restapi/v1.0/account/(~|\\d+)';
const mediaAccount = '^/media/restapi/v1.0/account/(~|\\d+)';
const extension = '/extension/(~|\\d+)';
const subscription = '^/restapi/v1.0/subscription';

const extensionOf = (part: string | undefined, request: SimulatedRequest) =>
  part === '~' || part === undefined ? request.ownerExtensionId : part;

const patterns: Pattern[] = [
  {
    method: 'GET',
    path: new RegExp(`${account}/call-log$`),
    surface: 'account_call_log',
    answer: (_, calls, request) => listCallLog(calls, request),
  },
  {
    method: 'GET',
    path: new RegExp(`${account}/call-log/([^/]+)$`),
    surface: 'account_call_log',
    answer: ([, ids = ''], calls, request) => recordsById(calls, request, decodeURIComponent(ids).split(',')),
  },
  {
    method: 'GET',
    path: new RegExp(`${account}${extension}/call-log$`),
    surface: 'extension_call_log',
    answer: ([, id], calls, request) => listCallLog(calls, request, extensionOf(id, request)),
  },
  {
    method: 'GET',
    path: new RegExp(`${account}/recording/([^/]+)$`),
    surface: 'recording_metadata',
    answer: ([, id = ''], calls, request) => recordingMetadata(calls, request, id),
  },
  {
    method: 'GET',
    path: new RegExp(`${mediaAccount}/recording/([^/]+)/content$`),
    surface: 'recording_content',
    answer: ([, id = ''], calls, request) => recordingContent(calls, request, id),
  },
  {
    method: 'GET',
    path: new RegExp(`${account}${extension}/message-store$`),
    surface: 'message_store_search',
    answer: ([, id], calls, request) => listVoicemails(calls, request, extensionOf(id, request)),
  },
  {
    method: 'GET',
    path: new RegExp(`${account}${extension}/message-store/([^/]+)$`),
    surface: 'voicemail_message_detail',
    answer: ([, id, message = ''], calls, request) =>
      voicemailDetail(calls, request, extensionOf(id, request), message),
  },
  {
    method: 'GET',
    path: new RegExp(`${mediaAccount}${extension}/message-store/([^/]+)/content/([^/]+)$`),
    surface: 'voicemail_transcript_content',
    answer: ([, id, message = '', attachment = ''], calls, request) =>
      voicemailContent(calls, request, extensionOf(id, request), message, attachment),
  },
  {
    method: 'POST',
    path: new RegExp(`${subscription}$`),
    surface: 'subscription',
    group: 'medium',
    answer: (_parts, _calls, request, subscriptions) => subscriptions.create(request),
  },
  {
    method: 'GET',
    path: new RegExp(`${subscription}$`),
    surface: 'subscription',
    answer: (_parts, _calls, request, subscriptions) => subscriptions.list(request),
  },
  {
    method: 'GET',
    path: new RegExp(`${subscription}/([^/]+)$`),
    surface: 'subscription',
    answer: ([id = ''], _calls, request, subscriptions) => subscriptions.get(request, id),
  },
  {
    method: 'POST',
    path: new RegExp(`${subscription}/([^/]+)/renew$`),
    surface: 'subscription',
    answer: ([id = ''], _calls, request, subscriptions) => subscriptions.renew(request, id),
  },
  {
    method: 'DELETE',
    path: new RegExp(`${subscription}/([^/]+)$`),
    surface: 'subscription',
    group: 'medium',
    answer: ([id = ''], _calls, request, subscriptions) => subscriptions.remove(request, id),
  },
];

/** The endpoint of a method and path, or undefined for one that the simulator doesn't have. */
export function routeOf(method: string, path: string): Route | undefined {
  for (const pattern of patterns) {
    const parts = pattern.method === method ? pattern.path.exec(path)?.slice(1) : undefined;
    if (!parts) continue;
    return {
      surface: pattern.surface,
      group: pattern.group ?? simulatedSurfaces[pattern.surface],
      answer: (calls, request, subscriptions) => pattern.answer(parts, calls, request, subscriptions),
    };
  }
  return undefined;
}
