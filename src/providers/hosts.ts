import { LRUCache } from 'lru-cache';
import type { BreakerOptions } from '../lib/breaker.ts';
import type { Clock } from '../lib/clock.ts';
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../lib/http/http-client.ts';
import { Problem } from '../lib/problem.ts';
import { createQuotas } from '../lib/scheduling/quotas.ts';
import { ProviderError, type ProviderErrorOptions } from '../normalize/provider-error.ts';
import { toProviderError } from './failure.ts';
import { clampPause, createProviderBreaker, defaultPauseSeconds } from './provider-breaker.ts';

interface HostLimitOptions {
  readonly clock: Clock;
  readonly breaker: BreakerOptions;
  /** Maximum number of concurrent requests to one host. A client address may use half of it. */
  readonly maxPerHost: number;
}

interface HostCall {
  readonly host: string;
  /** Key of the requested resource. Repeated `malformed` responses for it count as one failure. */
  readonly subject: string;
  readonly context: RequestContext;
}

/**
 * Function that runs a request to a host that a caller names, within the limits of this host.
 * @throws ProviderError while the host is paused or its breaker is open; Problem `overloaded` if
 *   too many requests to it are in flight; the errors of `send`
 */
export type CallHost = <Found>(call: HostCall, send: () => Promise<Found>) => Promise<Found>;

const maxHosts = 4096;

/** Creates the limits of hosts, which the providers share that read from hosts of callers. */
export function createHostLimits({ clock, breaker, maxPerHost }: HostLimitOptions): CallHost {
  const requests = { perAddress: Math.max(1, Math.floor(maxPerHost / 2)), total: maxPerHost };
  const open = (host: string) => ({
    breaker: createProviderBreaker({ ...breaker, clock, host }),
    quotas: createQuotas({ requests }),
  });
  const hosts = new LRUCache<string, ReturnType<typeof open>>({
    maxSize: maxHosts, // `max` would allocate for all entries at once
    sizeCalculation: () => 1,
  });
  return async ({ host, subject, context }, send) => {
    const known = hosts.get(host) ?? open(host);
    hosts.set(host, known);
    const reservation = known.quotas.open('requests', context.client ?? null);
    const detail = `Too many requests to the server ${host} are in flight.`;
    if (!reservation.take(1)) throw new Problem('overloaded', { detail });
    try {
      return await known.breaker.run(send, { signal: context.signal, subject });
    } finally {
      reservation.release();
    }
  };
}

/** Returns the error of one host, which says nothing about other hosts. */
export function toHostFailure(
  kind: ProviderError['kind'],
  message: string,
  options: ProviderErrorOptions = {},
) {
  return new ProviderError(kind, message, { ...options, isProviderWide: false });
}

interface HostOptions {
  readonly get: HttpClient['get'];
  readonly clock: Clock;
  readonly callHost: CallHost;
}

/**
 * Creates the function that sends a request within the limits of its host. `read` converts the
 * response, or the URL of a redirect that was not followed. Its errors are failures of the host.
 * @throws errors of `read`; ProviderError if the host fails, or its status is 429 or 5xx; Problem
 *   `overloaded` if too many requests to it are in flight; the errors of `context.takeRequest` and
 *   `context.takeBytes`
 */
export function createAskHost({ get, clock, callHost }: HostOptions) {
  return <Found>(url: URL, context: RequestContext, read: (answer: HttpAnswer | URL) => Found) => {
    const { host, pathname, search } = url;
    return callHost({ host, subject: `${pathname}${search}`, context }, async () => {
      const answer = await get(url, context).catch(toRedirect);
      if (!(answer instanceof URL)) refuseOverload(answer, host, clock.now());
      return read(answer);
    });
  };
}

export type AskHost = ReturnType<typeof createAskHost>;

function toRedirect(error: unknown): URL {
  if (!(error instanceof HttpFailure)) throw error;
  if (error.kind === 'redirect' && error.cause instanceof URL) return error.cause;
  const { kind, message } = toProviderError(error);
  throw toHostFailure(kind, message, { cause: error });
}

function refuseOverload(answer: HttpAnswer, host: string, nowMs: number): void {
  const { status } = answer;
  if (status === 429) {
    const retryAfterSeconds = clampPause(pauseOf(answer, nowMs) ?? defaultPauseSeconds);
    const message = `The server ${host} limits the rate of requests.`;
    throw toHostFailure('throttled', message, { retryAfterSeconds });
  }
  if (status >= 500) {
    throw toHostFailure('unavailable', `The server ${host} is failing at the moment.`);
  }
}

function pauseOf({ retryAfterSeconds, header }: HttpAnswer, nowMs: number): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  const atMs = Date.parse(header('x-ratelimit-reset') ?? '');
  return Number.isNaN(atMs) ? undefined : Math.ceil((atMs - nowMs) / 1000);
}
