import { LRUCache } from 'lru-cache';
import type { BreakerOptions } from '../../lib/breaker.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../../lib/http/http-client.ts';
import { publicHostOf } from '../../lib/http/public-host.ts';
import { Problem } from '../../lib/problem.ts';
import { createQuotas } from '../../lib/scheduling/quotas.ts';
import { ProviderError, type ProviderErrorOptions } from '../../normalize/provider-error.ts';
import { toUnavailability } from '../../normalize/unavailable.ts';
import { createMalformed, toMissing, toProviderError } from '../failure.ts';
import { clampPause, createProviderBreaker, defaultPauseSeconds } from '../provider-breaker.ts';
import { isBody } from '../upstream.ts';

export interface FoundReply {
  readonly is: 'found';
  readonly body: unknown;
  header(name: string): string | undefined;
}

/** Response. `absent`: 404. `suspended`: 410, sent by older versions for suspended accounts. */
export type Reply = FoundReply | { readonly is: 'absent' } | { readonly is: 'suspended' };

interface NoApi {
  readonly is: 'no api';
  /** Host to which it redirects; `null` if not public, `undefined` without a redirect. */
  readonly to: string | null | undefined;
  /** URL to which the response redirects; absent if it does not redirect. */
  readonly location?: URL;
  readonly failure: ProviderError;
}

/**
 * Function that sends a GET request to a host.
 * @throws ProviderError if the host fails; Problem `overloaded` if too many requests to the host
 *   are in flight; the errors of `context.takeRequest` and `context.takeBytes`
 */
export type AskServer = (
  host: string,
  path: string,
  context: RequestContext,
) => Promise<Reply | NoApi>;

export interface HostLimitOptions {
  readonly clock: Clock;
  readonly breaker: BreakerOptions;
  /** Maximum number of concurrent requests to one host. A client address may use half of it. */
  readonly maxPerHost: number;
}

export interface ServersOptions extends HostLimitOptions {
  readonly http: HttpClient;
}

const maxHosts = 4096;

/** Creates the function that sends requests. Each host has its own breaker and request limit. */
export function createServers(options: ServersOptions): AskServer {
  const { clock, breaker, maxPerHost } = options;
  const requests = { perAddress: Math.max(1, Math.floor(maxPerHost / 2)), total: maxPerHost };
  const open = (host: string) => ({
    breaker: createProviderBreaker({ ...breaker, clock, host }),
    ledger: createQuotas({ requests }),
  });
  const hosts = new LRUCache<string, ReturnType<typeof open>>({
    maxSize: maxHosts, // `max` would allocate for all entries at once
    sizeCalculation: () => 1,
  });
  return async (host, path, context) => {
    const known = hosts.get(host) ?? open(host);
    hosts.set(host, known);
    const reservation = known.ledger.open('requests', context.client ?? null);
    const detail = `Too many requests to the server ${host} are in flight.`;
    if (!reservation.take(1)) throw new Problem('overloaded', { detail });
    try {
      const call = { signal: context.signal, subject: path };
      return await known.breaker.run(() => ask(options, [host, path, context]), call);
    } finally {
      reservation.release();
    }
  };
}

async function ask(
  { http, clock }: ServersOptions,
  [host, path, context]: Parameters<AskServer>,
): ReturnType<AskServer> {
  try {
    const answer = await http.get(new URL(`https://${host}${path}`), context);
    refuseFailure(answer, host, clock);
    return toReply(answer, host);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const { kind, message } = toProviderError(error);
    const failure = toFailure(kind, message, { cause: error });
    if (error.kind !== 'redirect' || !(error.cause instanceof URL)) throw failure;
    return { is: 'no api', to: publicHostOf(error.cause), location: error.cause, failure };
  }
}

function refuseFailure(answer: HttpAnswer, host: string, clock: Clock): void {
  const { status } = answer;
  if (status === 429) {
    const retryAfterSeconds = clampPause(pauseOf(answer, clock.now()) ?? defaultPauseSeconds);
    const message = `The server ${host} limits the rate of requests.`;
    throw toFailure('throttled', message, { retryAfterSeconds });
  }
  const failing = refusals.get(status) ?? (status < 500 ? null : 'is failing at the moment.');
  if (failing !== null) throw createUnavailable(`The server ${host} ${failing}`);
}

function toReply({ status, mediaType, header, text }: HttpAnswer, host: string): Reply | NoApi {
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(mediaType)) return toNoApi(status, host);
  const body = parseJson(text);
  if (status === 200) return { is: 'found', body, header };
  if (status !== 404 && status !== 410) throw createUnreadable();
  // Other software also sends 404 with JSON, so the body must have the form of Mastodon's errors.
  if (!isBody(body) || typeof body.error !== 'string') return toNoApi(status, host);
  return { is: status === 404 ? 'absent' : 'suspended' };
}

const refusals: ReadonlyMap<number, string> = new Map([
  [401, 'requires a login for reading.'],
  [403, 'refuses requests from this server.'],
  [422, 'requires a login for this.'],
]);

function pauseOf({ retryAfterSeconds, header }: HttpAnswer, nowMs: number): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  const atMs = Date.parse(header('x-ratelimit-reset') ?? '');
  return Number.isNaN(atMs) ? undefined : Math.ceil((atMs - nowMs) / 1000);
}

function toNoApi(status: number, host: string): NoApi {
  const message = `The server ${host} does not have the API of Mastodon.`;
  const failure = status === 200 ? createUnreadable() : createUnavailable(message);
  return { is: 'no api', to: undefined, failure };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createUnreadable(error);
  }
}

function toFailure(
  kind: ProviderError['kind'],
  message: string,
  options: ProviderErrorOptions = {},
) {
  return new ProviderError(kind, message, { ...options, isProviderWide: false });
}

export const createUnreadable = (cause?: unknown): ProviderError =>
  toFailure('malformed', createMalformed().message, { cause });

export const createUnavailable = (sentence: string): ProviderError =>
  toFailure('unavailable', sentence);

const missing = {
  post: 'The server has no such post, or the post is not public.',
  account: 'The server has no such account.',
} as const;

/** Returns a successful reply. Throws ProviderError `missing` for 404 and 410 (suspended). */
export function expectFound(reply: Reply, what: keyof typeof missing): FoundReply {
  if (reply.is === 'found') return reply;
  throw reply.is === 'absent' ? new ProviderError('missing', missing[what]) : createSuspended();
}

export const createSuspended = (): ProviderError =>
  toMissing(toUnavailability('suspended', 'This account is suspended.'));
