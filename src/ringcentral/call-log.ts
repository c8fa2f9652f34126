import type { Clock } from '../platform/clock.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import { type ApiCall, type CallApi, readAs } from './client.ts';
import type { Failure, Outcome } from './errors.ts';
import {
  type CallLogRecord,
  type CallLogSnapshot,
  callLogPageSchema,
  callLogRecordSchema,
  recordPartsSchema,
} from './schemas.ts';
import { belongsToSession } from './snapshot.ts';

export interface FetchCallLogOptions {
  /** The session's first event: the search begins 24 h before it, since the API's own window is the last 24 h. */
  firstEventAt: Date;
  sessionId?: string | undefined;
  /** Extension of the message's own party. */
  partyExtensionId?: string | undefined;
  /** The session's other internal parties; only the first is asked, and only if the party has no extension. */
  otherExtensionIds?: readonly string[];
  /** `extension` skips the account level, after a 403 there whose fallback got no slot. Default `account`. */
  level?: 'account' | 'extension';
}

/** `no_extension`: the account level is forbidden, and the session has no internal party to ask for. Pending. */
export type CallLogOutcome = Outcome<CallLogSnapshot> | { kind: 'no_extension' };

/** What came of a list: all pages, or those before a failure. */
export interface CallLogList {
  snapshot: CallLogSnapshot;
  failure?: Failure;
}

/** The Call Log, the Heavy one of RingCentral's APIs. A snapshot without records means "not listed yet". */
export interface CallLog {
  /**
   * One session's records: one HTTP request, or two when the account level answers 403 (and one more after a
   * 401). A failure with surface `extension_call_log` came from the fallback: go on with `level: 'extension'`.
   */
  fetchCallLog(
    telephonySessionId: string,
    accountId: string,
    options: FetchCallLogOptions,
  ): Promise<CallLogOutcome>;
  /** All records that started in the window, page by page, each page with a slot of its own. */
  listCallLog(accountId: string, window: { from: Date; to: Date }): Promise<CallLogList>;
  /** Up to 50 records by their ids in one request; those that RingCentral doesn't have are left out. */
  fetchRecords(accountId: string, recordIds: readonly string[]): Promise<Outcome<CallLogSnapshot>>;
}

const dayMs = 24 * 60 * 60_000;
const recordsPerPage = 1000;
const maximumPages = 100;
const maximumIds = 50;
/** Thousands of records take their time. */
const listTimeoutMs = 30_000;
const multipartJson = 'application/vnd.ringcentral.multipart+json';
const accountPath = '/restapi/v1.0/account/~';
const surface = 'account_call_log';

export function createCallLog(callApi: CallApi, clock: Clock, log: Log): CallLog {
  /** Records that aren't of the shape that the API promises are left out, and logged. */
  function readRecords(items: readonly unknown[], call: ApiCall): CallLogRecord[] {
    const parsed = items.map((item) => callLogRecordSchema.safeParse(item));
    const unreadable = parsed.filter(({ success }) => !success).length;
    if (unreadable > 0) {
      log.warn(logEvents.ringcentralRecordUnreadable, {
        api_surface: call.surface,
        account_id: call.accountId,
        telephony_session_id: call.telephonySessionId,
        records: unreadable,
      });
    }
    return parsed.flatMap(({ data }) => data ?? []);
  }

  const snapshotOf = (records: CallLogRecord[], coverage: CallLogSnapshot['coverage']): CallLogSnapshot => ({
    fetchedAt: clock.now().toISOString(),
    coverage,
    records,
  });

  async function fetchSession(
    call: ApiCall,
    telephonySessionId: string,
    { firstEventAt, sessionId }: FetchCallLogOptions,
    coverage: CallLogSnapshot['coverage'],
  ): Promise<Outcome<CallLogSnapshot>> {
    const dateFrom = new Date(firstEventAt.getTime() - dayMs).toISOString();
    const page = await callApi(
      { ...call, query: { telephonySessionId, view: 'Detailed', dateFrom } },
      readAs(call.surface, callLogPageSchema),
    );
    if (page.kind !== 'ok') return page;
    const own = readRecords(page.value.records, call).filter((record) =>
      belongsToSession(record, { telephonySessionId, sessionId }),
    );
    return { kind: 'ok', value: snapshotOf(own, coverage) };
  }

  return {
    async fetchCallLog(telephonySessionId, accountId, options) {
      const context = { accountId, telephonySessionId };
      if (options.level !== 'extension') {
        const call = { ...context, surface, uri: `${accountPath}/call-log` } as const;
        const outcome = await fetchSession(call, telephonySessionId, options, 'account');
        if (outcome.kind !== 'forbidden') return outcome;
      }
      const extensionId = options.partyExtensionId ?? options.otherExtensionIds?.[0];
      if (extensionId === undefined) return { kind: 'no_extension' };
      const uri = `${accountPath}/extension/${encodeURIComponent(extensionId)}/call-log`;
      const call = { ...context, surface: 'extension_call_log', uri } as const;
      return fetchSession(call, telephonySessionId, options, 'extension');
    },

    async listCallLog(accountId, { from, to }) {
      const records: CallLogRecord[] = [];
      let next: ApiCall | undefined = {
        surface,
        accountId,
        uri: `${accountPath}/call-log`,
        query: {
          view: 'Detailed',
          dateFrom: from.toISOString(),
          dateTo: to.toISOString(),
          perPage: String(recordsPerPage),
        },
        timeoutMs: listTimeoutMs,
      };
      for (let page = 1; next && page <= maximumPages; page += 1) {
        const call: ApiCall = next;
        const answer = await callApi(call, readAs(surface, callLogPageSchema));
        if (answer.kind !== 'ok') return { snapshot: snapshotOf(records, 'account'), failure: answer };
        records.push(...readRecords(answer.value.records, call));
        const uri = answer.value.navigation?.nextPage?.uri;
        next = uri === undefined ? undefined : { surface, accountId, uri, timeoutMs: listTimeoutMs };
      }
      return { snapshot: snapshotOf(records, 'account') };
    },

    async fetchRecords(accountId, recordIds) {
      const ids = recordIds.slice(0, maximumIds);
      if (ids.length === 0) return { kind: 'ok', value: snapshotOf([], 'account') };
      const call: ApiCall = {
        surface,
        accountId,
        uri: `${accountPath}/call-log/${ids.map(encodeURIComponent).join(',')}`,
        query: { view: 'Detailed' },
        ...(ids.length > 1 ? { accept: multipartJson } : {}),
        timeoutMs: listTimeoutMs,
      };
      if (ids.length === 1) {
        const one = await callApi(call, readAs(surface, callLogRecordSchema));
        if (one.kind === 'not_found') return { kind: 'ok', value: snapshotOf([], 'account') };
        return one.kind === 'ok' ? { kind: 'ok', value: snapshotOf([one.value], 'account') } : one;
      }
      const parts = await callApi(call, readAs(surface, recordPartsSchema));
      if (parts.kind !== 'ok') return parts;
      const bodies = parts.value.filter(({ status }) => status === 200).map(({ body }) => body);
      return { kind: 'ok', value: snapshotOf(readRecords(bodies, call), 'account') };
    },
  };
}
