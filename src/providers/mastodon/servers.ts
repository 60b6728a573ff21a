import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../../core/http/http-client.ts';
import { publicHostOf } from '../../core/http/public-host.ts';
import { Problem } from '../../core/problem.ts';
import { type Book, createBook, openHold } from '../../core/scheduling/ledger.ts';
import { ProviderError, type ProviderErrorOptions } from '../../platforms/provider-error.ts';
import { createMalformed, toProviderError } from '../failure.ts';
import { type BreakerOptions, clampPause, defaultPauseSeconds, Gate } from '../gate.ts';
import { isBody } from '../upstream.ts';

export interface FoundReply {
  readonly is: 'found';
  readonly body: unknown;
  header(name: string): string | undefined;
}

/** The answer of a server; `suspended` is what older ones say of an account. */
export type Reply = FoundReply | { readonly is: 'absent' } | { readonly is: 'suspended' };

/** The answer of a host without the API. `to`: where it redirects, `null` if not allowed. */
interface NoApi {
  readonly is: 'no api';
  readonly to: string | null | undefined;
  readonly failure: ProviderError;
}

/**
 * Sends one GET to a host. Throws ProviderError, never general; Problem `overloaded` if too many
 * requests to the host are in flight; what `takeRequest` throws.
 */
export type AskServer = (
  host: string,
  path: string,
  context: RequestContext,
) => Promise<Reply | NoApi>;

export interface HostGateOptions {
  readonly clock: Clock;
  readonly breaker: BreakerOptions;
  /** Maximum number of concurrent requests to one host; one client address may have half of them. */
  readonly maxPerHost: number;
}

export interface ServersOptions extends HostGateOptions {
  readonly http: HttpClient;
}

const maxHosts = 4096;

/** Creates the client of all servers. Each host has its own pause, breaker and bound of requests. */
export function createServers(options: ServersOptions): AskServer {
  const { clock, breaker, maxPerHost } = options;
  const hosts = new LRUCache<string, { gate: Gate; requests: Book }>({
    maxSize: maxHosts, // `max` would allocate for all entries at once
    sizeCalculation: () => 1,
  });
  const bound = { perAddress: Math.max(1, Math.floor(maxPerHost / 2)), total: maxPerHost };
  return async (host, path, context) => {
    const open = () => ({
      gate: new Gate({ ...breaker, clock, host }),
      requests: createBook(bound),
    });
    const known = hosts.get(host) ?? open();
    hosts.set(host, known);
    const hold = openHold(known.requests, context.client ?? null);
    const detail = `Too many requests to the server ${host} are in flight.`;
    if (!hold.take(1)) throw new Problem('overloaded', { detail });
    try {
      const asking = { signal: context.signal, subject: path };
      return await known.gate.run(() => ask(options, [host, path, context]), asking);
    } finally {
      hold.release();
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
    const failure = fail(kind, message, { cause: error });
    if (error.kind !== 'redirect' || !(error.cause instanceof URL)) throw failure;
    return { is: 'no api', to: publicHostOf(error.cause), failure };
  }
}

function refuseFailure(answer: HttpAnswer, host: string, clock: Clock): void {
  const { status } = answer;
  if (status === 429) {
    const retryAfterSeconds = clampPause(askedPause(answer, clock.now()) ?? defaultPauseSeconds);
    throw fail('throttled', `The server ${host} asks for fewer requests.`, { retryAfterSeconds });
  }
  const failing = refusals.get(status) ?? (status < 500 ? null : 'is failing at the moment.');
  if (failing !== null) throw createUnavailable(`The server ${host} ${failing}`);
}

function toReply({ status, mediaType, header, text }: HttpAnswer, host: string): Reply | NoApi {
  const isJson = /^application\/(?:[\w.-]+\+)?json$/.test(mediaType);
  if (!isJson) return toNoApi(status, host);
  const body = parseJson(text);
  if (status === 200) return { is: 'found', body, header };
  if (status !== 404 && status !== 410) throw createUnreadable();
  // Anything may answer 404 in JSON; only in its own form is it the server's word.
  if (!isBody(body) || typeof body.error !== 'string') return toNoApi(status, host);
  return { is: status === 404 ? 'absent' : 'suspended' };
}

const refusals: ReadonlyMap<number, string> = new Map([
  [401, 'allows no reading without a login.'],
  [403, 'refuses to be read by this server.'],
  [422, 'does not show this to visitors.'],
]);

/** Returns the seconds that a server asks to wait. Mastodon names the moment. */
function askedPause({ retryAfterSeconds, header }: HttpAnswer, nowMs: number): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  const atMs = Date.parse(header('x-ratelimit-reset') ?? '');
  return Number.isNaN(atMs) ? undefined : Math.ceil((atMs - nowMs) / 1000);
}

function toNoApi(status: number, host: string): NoApi {
  const message = `The server ${host} does not answer as servers of Mastodon do.`;
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

/** A failure of one server says nothing of the others, so it is never general. */
function fail(kind: ProviderError['kind'], message: string, options: ProviderErrorOptions = {}) {
  return new ProviderError(kind, message, { ...options, isGeneral: false });
}

export function createUnreadable(cause?: unknown): ProviderError {
  return fail('malformed', createMalformed().message, { cause });
}

export function createUnavailable(sentence: string): ProviderError {
  return fail('unavailable', sentence);
}

const missing = {
  post: 'There is no such post on its server, or it is not public.',
  account: 'There is no such account on its server.',
} as const;

/** Returns a reply that has the resource. Throws ProviderError `missing` if there is none. */
export function expectFound(reply: Reply, what: keyof typeof missing): FoundReply {
  if (reply.is === 'found') return reply;
  throw reply.is === 'absent' ? new ProviderError('missing', missing[what]) : createSuspended();
}

export function createSuspended(): ProviderError {
  return new ProviderError('missing', 'This account is suspended.');
}
