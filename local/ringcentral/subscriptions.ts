import { randomUUID } from 'node:crypto';
import { apiError, json, notFound, type Reply, type SimulatedRequest } from './replies.ts';
import type { TelephonyEvent } from './world.ts';

interface Subscription {
  id: string;
  accountId: string;
  eventFilters: string[];
  address: string;
  verificationToken?: string;
  createdAt: number;
  expiresAt: number;
  blacklistedAt?: number;
}

export interface Delivery {
  subscriptionId: string;
  /** HTTP status of the receiver; 0 when it could not be reached in three seconds. */
  status: number;
}

const maximumSeconds = 315_360_000;
const handshakeMs = 3000;
const maximumAnswerBytes = 1024;

/** Webhook subscriptions: handshake on creation, renewal, blacklisting, and delivery of events. */
export class Subscriptions {
  readonly #all: Subscription[] = [];

  async create(request: SimulatedRequest): Promise<Reply> {
    const body = JSON.parse(request.body || '{}');
    const { address, verificationToken, transportType } = body.deliveryMode ?? {};
    if (transportType !== 'WebHook' || !Array.isArray(body.eventFilters) || !URL.canParse(address ?? '')) {
      return apiError(400, 'CMN-101', { parameterName: 'deliveryMode' });
    }
    const { protocol, hostname } = new URL(address);
    if (protocol !== 'https:' && hostname !== '127.0.0.1') return apiError(400, 'SUB-523');
    if (this.#of(request.accountId).length >= 30) return apiError(400, 'SUB-505');
    const problem = await handshake(address);
    if (problem) return apiError(400, problem);
    const expiresIn = Math.min(maximumSeconds, Number(body.expiresIn ?? 604_800));
    const subscription: Subscription = {
      id: randomUUID(),
      accountId: request.accountId,
      eventFilters: body.eventFilters,
      address,
      ...(verificationToken === undefined ? {} : { verificationToken }),
      createdAt: request.now,
      expiresAt: request.now + expiresIn * 1000,
    };
    this.#all.push(subscription);
    return json(200, subscriptionJson(subscription, request));
  }

  list(request: SimulatedRequest): Reply {
    return json(200, {
      uri: `${request.platform}/restapi/v1.0/subscription`,
      records: this.#of(request.accountId).map((subscription) => subscriptionJson(subscription, request)),
    });
  }

  get(request: SimulatedRequest, id: string): Reply {
    const subscription = this.#of(request.accountId).find((known) => known.id === id);
    return subscription ? json(200, subscriptionJson(subscription, request)) : notFound('subscriptionId');
  }

  renew(request: SimulatedRequest, id: string): Reply {
    const subscription = this.#of(request.accountId).find((known) => known.id === id);
    if (!subscription) return notFound('subscriptionId');
    subscription.expiresAt = request.now + (subscription.expiresAt - subscription.createdAt);
    return json(200, subscriptionJson(subscription, request));
  }

  remove(request: SimulatedRequest, id: string): Reply {
    const index = this.#all.findIndex((known) => known.id === id && known.accountId === request.accountId);
    if (index < 0) return notFound('subscriptionId');
    this.#all.splice(index, 1);
    return { status: 204 };
  }

  /** RingCentral gives up on an address; only deleting and creating anew helps. */
  blacklist(accountId: string, now: number): void {
    for (const subscription of this.#of(accountId)) subscription.blacklistedAt = now;
  }

  /** Posts an event to every active subscription of its account. */
  async deliver(accountId: string, event: TelephonyEvent, now: number): Promise<Delivery[]> {
    const active = this.#of(accountId).filter(
      (known) =>
        known.blacklistedAt === undefined &&
        now < known.expiresAt &&
        known.eventFilters.some((filter) => filter.includes('/telephony/sessions')),
    );
    return Promise.all(
      active.map(async ({ id, address, verificationToken }) => {
        const status = await post(address, JSON.stringify({ ...event, subscriptionId: id }), {
          ...(verificationToken === undefined ? {} : { 'verification-token': verificationToken }),
        }).then(
          (answer) => answer.status,
          () => 0,
        );
        return { subscriptionId: id, status };
      }),
    );
  }

  #of(accountId: string): Subscription[] {
    return this.#all.filter((subscription) => subscription.accountId === accountId);
  }
}

function post(address: string, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(address, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'user-agent': 'RingCentral-Webhook/8.3', ...headers },
    signal: AbortSignal.timeout(handshakeMs),
  });
}

/** The error code that a wrong answer to the handshake gets, or undefined. */
async function handshake(address: string): Promise<string | undefined> {
  const token = randomUUID();
  const answer = await post(address, '', { 'validation-token': token }).catch(() => undefined);
  if (answer?.status !== 200) return 'SUB-521';
  if (answer.headers.get('validation-token') !== token) return 'SUB-520';
  const headerBytes = [...answer.headers].reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  return headerBytes + (await answer.text()).length > maximumAnswerBytes ? 'SUB-525' : undefined;
}

function subscriptionJson(subscription: Subscription, request: SimulatedRequest) {
  const { id, eventFilters, address, createdAt, expiresAt, blacklistedAt } = subscription;
  return {
    id,
    uri: `${request.platform}/restapi/v1.0/subscription/${id}`,
    eventFilters,
    creationTime: new Date(createdAt).toISOString(),
    expirationTime: new Date(expiresAt).toISOString(),
    expiresIn: Math.max(1, Math.round((expiresAt - request.now) / 1000)),
    status: blacklistedAt === undefined ? 'Active' : 'Blacklisted',
    deliveryMode: { transportType: 'WebHook', address, encryption: false },
    ...(blacklistedAt === undefined
      ? {}
      : {
          blacklistedData: {
            blacklistedAt: new Date(blacklistedAt).toISOString(),
            reason: 'Webhook responses with code: 503',
          },
        }),
  };
}
