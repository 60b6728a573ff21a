import type { Clock, Fetch } from '../../clients/typescript/src/index.ts';

/** Request that a client has sent. */
export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** `fetch` of a test, which returns prepared responses in order. */
export interface FakeFetch {
  readonly fetch: Fetch;
  readonly sent: readonly SentRequest[];
}

/** Creates a `fetch` that calls the next function for each request. The last function answers all further requests. */
export function createFakeFetch(...replies: readonly [Reply, ...Reply[]]): FakeFetch {
  const sent: SentRequest[] = [];
  const fetch: Fetch = async (url, init) => {
    const reply = replies[Math.min(sent.length, replies.length - 1)] ?? replies[0];
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = init.body === undefined || init.body === null ? null : String(init.body);
    sent.push({ url, method: init.method ?? 'GET', headers, body });
    return reply(init.signal ?? new AbortController().signal);
  };
  return { fetch, sent };
}

type Reply = (signal: AbortSignal) => Response | Promise<Response>;

/** Returns a reply with a JSON body. */
export const json =
  (body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Reply =>
  () =>
    new Response(JSON.stringify(body), { status, headers });

/** Returns a reply with a problem document. */
export const problem = (code: string, status: number, retryAfter?: number): Reply =>
  json(
    {
      type: `http://localhost:8080/docs/errors#${code}`,
      title: 'Failed',
      status,
      detail: `The request failed with ${code}.`,
      code,
      resolution: 'Do something else.',
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    },
    { 'content-type': 'application/problem+json', 'x-request-id': 'req-1' },
    status,
  );

/** Reply that never comes, until the request is cancelled. */
export const silence: Reply = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Reply of a broken connection. */
export const broken: Reply = () => Promise.reject(new TypeError('fetch failed'));

/** Returns a reply whose body has the given texts, and then ends, breaks, or stays open without a further part. */
export const stream =
  (
    texts: readonly string[],
    end: 'ends' | 'breaks' | 'stalls' = 'ends',
    headers: Readonly<Record<string, string>> = {},
  ): Reply =>
  (signal) => {
    const encoder = new TextEncoder();
    const parts = [...texts];
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const part = parts.shift();
        if (part !== undefined) return controller.enqueue(encoder.encode(part));
        if (end === 'ends') return controller.close();
        if (end === 'breaks') return controller.error(new TypeError('terminated'));
        return new Promise(() => {
          signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
        });
      },
    });
    return new Response(body, { headers });
  };

/** Clock whose sleeps end at once, and advance its time. Records the sleeps that were not cancelled. */
export interface SkippingClock extends Clock {
  readonly slept: readonly number[];
}

/** Creates a clock that skips sleeps as soon as nothing else can happen. */
export function createSkippingClock(): SkippingClock {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    sleep: async (ms, signal) => {
      // Timers run after everything that is in memory, so a timeout never wins against a prepared reply.
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (signal?.aborted) throw signal.reason;
      nowMs += ms;
      slept.push(ms);
    },
  };
}
