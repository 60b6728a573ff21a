import type { Deprecation } from './deprecation.ts';

/** Source of time, which tests can replace. All values are in milliseconds. */
export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Cached response. */
export interface CachedReply {
  readonly etag: string;
  /** JSON text of the response. */
  readonly body: string;
}

/** Store of responses by URL, such as a `Map`. The client sends the ETag of a stored response as `If-None-Match`. */
export interface ReplyCache {
  get(url: string): CachedReply | undefined | Promise<CachedReply | undefined>;
  set(url: string, reply: CachedReply): unknown;
}

/** Function with the signature of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface PerchOptions {
  /** Address of the server, such as `https://perch.example.org`. */
  readonly baseUrl: string | URL;
  /** API key for searches, profiles and lists. */
  readonly apiKey?: string | undefined;
  /**
   * Bearer token for sessions. The server recognizes a repeated request only if it has the same token. Default: a
   * random token for each client. Store the token if another process must continue the sessions.
   */
  readonly bearer?: string | undefined;
  /** Address of the session service. Default: `{baseUrl}/svc/v1`. */
  readonly sessionsUrl?: string | URL | undefined;
  /** Maximum duration of a call with all its retries and waits, in milliseconds. Default 60,000. */
  readonly deadlineMs?: number | undefined;
  /** Maximum time to wait for a response or for the next part of its body, in milliseconds. Default 30,000. */
  readonly stallMs?: number | undefined;
  /**
   * Maximum number of retries of a failed request. For streams, each new event or post resets the count of retries.
   * Default 4.
   */
  readonly retries?: number | undefined;
  /** Whether to wait while the server's `RateLimit` header reports that the allowance is used up. Default `true`. */
  readonly pacing?: boolean | undefined;
  readonly cache?: ReplyCache | undefined;
  /** Called once for each operation whose responses have a `Deprecation` header. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Function that sends requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. The call then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum duration of the call in milliseconds, which replaces the `deadlineMs` of the client.
   * For lists, the maximum applies to each page.
   */
  readonly deadlineMs?: number | undefined;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
