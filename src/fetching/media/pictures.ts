import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller, Client } from '../../lib/caller.ts';
import { type Clock, createSteadyClock } from '../../lib/clock.ts';
import { HttpFailure } from '../../lib/http/http-client.ts';
import type { PictureAnswer, PictureBytes, PictureClient } from '../../lib/http/picture-client.ts';
import { Problem } from '../../lib/problem.ts';
import { createCoalescer } from '../../lib/scheduling/coalesce.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import type { Quotas, Reservation, Resource } from '../../lib/scheduling/quotas.ts';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';
import type { Picture, PictureStore } from './picture-store.ts';

export interface PicturesOptions {
  readonly http: PictureClient;
  readonly store: PictureStore;
  readonly clock: Clock;
  /** Limits on waiting requests, on unfinished fetches of each host, and on received bytes. */
  readonly quotas: Quotas;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

export interface PictureRequest {
  readonly caller: Pick<Caller, 'spend'>;
  readonly client: Client;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly span?: TraceSpan | undefined;
}

/** Time in milliseconds for which a failed fetch is not retried. */
const failureMs = 30_000;

const maxFailures = 5000;

export type Pictures = ReturnType<typeof createPictures>;

/** Creates a cached picture service. Concurrent requests for a picture share one fetch. */
export function createPictures(options: PicturesOptions) {
  const { http, store, quotas, timeoutMs, stop } = options;
  const clock = createSteadyClock(options.clock);
  const share = createSharing();
  const failures = new LRUCache<string, { readonly problem: Problem; readonly untilMs: number }>({
    max: maxFailures,
  });
  const throwIfFailed = (key: string): void => {
    const known = failures.get(key);
    if (known !== undefined && known.untilMs > clock.now()) throw known.problem;
  };
  const fetch = async (url: URL, request: PictureRequest, signal: AbortSignal) => {
    const { client, span } = request;
    const received = quotas.open('pictureBytes', client);
    const atHost = take(quotas, 'picturesOfHost', { address: url.host, network: null });
    const takeBytes = (count: number) => {
      if (!received.take(count)) throw overloaded();
    };
    try {
      const key = toKey(url);
      const answer = await withDeadline(timeoutMs, [signal, stop], (ended) =>
        http.get(url, { signal: ended, takeBytes, client, span }),
      );
      if (answer.picture === null) await store.delete(key);
      return await store.write(key, expectPicture(answer, url));
    } catch (error) {
      throw stop.aborted ? stopping() : toProblem(error, url);
    } finally {
      atHost.release();
      received.release();
    }
  };
  const fetchShared = async (key: string, url: URL, request: PictureRequest) => {
    throwIfFailed(key);
    const place = take(quotas, 'pictures', request.client);
    try {
      await request.caller.spend();
      return await share(key, request.signal, (signal) => fetch(url, request, signal));
    } catch (error) {
      if (error instanceof Problem && isLasting(error)) {
        failures.set(key, { problem: error, untilMs: clock.now() + failureMs });
      }
      throw error;
    } finally {
      place.release();
    }
  };
  return {
    /** Returns the properties of a picture, without reading it; `null` if it is not cached. */
    find: (url: URL) => store.find(toKey(url)),
    /**
     * Returns a picture from the cache or, for one unit of the caller's rate limit, from its host.
     * @throws Problem `picture_not_found`, `rate_limited`, `overloaded`, `shutting_down`, or a
     *   problem with an upstream
     */
    get: async (url: URL, request: PictureRequest) => {
      const key = toKey(url);
      return (await store.read(key)) ?? fetchShared(key, url, request);
    },
    close: async () => {
      await http.close();
      await store.close();
    },
  };
}

function createSharing() {
  const coalesce = createCoalescer<Picture>();
  type Start = (signal: AbortSignal) => Promise<Picture>;
  return async (key: string, signal: AbortSignal, start: Start): Promise<Picture> => {
    let isOwn = false;
    const attempt = () =>
      coalesce(key, signal, (ended) => {
        isOwn = true;
        return start(ended);
      });
    return attempt().catch((error: unknown) => {
      if (isOwn || !isOverload(error)) throw error;
      return attempt();
    });
  };
}

const toKey = ({ href }: URL): string => createHash('sha256').update(href).digest('hex');

function take(quotas: Quotas, resource: Resource, client: Client): Reservation {
  const reservation = quotas.open(resource, client);
  if (!reservation.take(1)) throw overloaded();
  return reservation;
}

function overloaded(): Problem {
  const detail =
    'Too many pictures are being fetched: in total, for this client address, or from this host.';
  return new Problem('overloaded', { detail });
}

const isOverload = (error: unknown) => error instanceof Problem && error.code === 'overloaded';

const stopping = () => new Problem('shutting_down', { detail: 'The server is shutting down.' });

/** Returns whether a repeated fetch would probably fail with the same problem. */
const isLasting = ({ code }: Problem): boolean =>
  code === 'picture_not_found' || code.startsWith('upstream_');

const refusals: readonly number[] = [400, 401, 403, 404, 410, 451];

function expectPicture(
  { status, retryAfterSeconds, picture }: PictureAnswer,
  url: URL,
): PictureBytes {
  if (picture !== null) return picture;
  if (refusals.includes(status)) {
    const detail = `The host ${url.host} does not have the picture, or does not send the picture to this server.`;
    throw new Problem('picture_not_found', { detail });
  }
  if (status === 429) {
    const detail = `The host ${url.host} limits the rate of requests.`;
    throw new Problem('upstream_rate_limited', {
      detail,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  if (status >= 500) throw unavailable(url);
  const detail = `The host ${url.host} did not send a JPEG, PNG, GIF, WebP or AVIF picture.`;
  throw unusable(detail);
}

const unavailable = ({ host }: URL, cause?: unknown) =>
  new Problem('upstream_unavailable', { detail: `The host ${host} sent no picture.`, cause });

function unusable(detail: string, cause?: unknown): Problem {
  const resolution = 'Do not retry. Open the post on its platform to see the picture.';
  return new Problem('upstream_error', { detail, resolution, cause });
}

function toProblem(error: unknown, url: URL): unknown {
  if (!(error instanceof HttpFailure)) return error;
  switch (error.kind) {
    case 'too_large':
    case 'over_budget':
      return unusable('The picture exceeds the size limit of this server.', error);
    case 'redirect':
      return unusable(`The host ${url.host} redirects to another address.`, error);
    // Unknown host names and private addresses have the same message, to hide the names of a
    // private network.
    case 'refused':
    case 'timeout':
    case 'connect':
    case 'reset':
    case 'aborted':
      return unavailable(url, error);
  }
}
