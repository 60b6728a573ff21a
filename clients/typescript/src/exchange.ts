import { isRecord, parseJson, readText } from './bodies.ts';
import { readDeprecation } from './deprecation.ts';
import { ConnectionError, ProblemError, ResponseError } from './errors.ts';
import type { Problem } from './generated.ts';
import type { Clock, PerchOptions } from './options.ts';
import type { Pacer, Surface } from './pacing.ts';
import { parseRetryAfter } from './retry.ts';
import type { Watchdog } from './watchdog.ts';

export interface Request {
  /** Name of the API operation. `onDeprecation` is called at most once for each operation. */
  readonly operation: string;
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Group of operations whose rate limit the request counts toward; absent for requests to sessions. */
  readonly surface?: Surface;
}

/** Sends a request once, and returns a successful response or 304. @throws PerchError for other responses */
export type Exchange = (request: Request, signal: AbortSignal) => Promise<Response>;

/**
 * Creates a function that sends a request once. The function also reads the `RateLimit` and
 * `Deprecation` headers of each response.
 */
export function createExchange(
  { fetch = (url, init) => globalThis.fetch(url, init), onDeprecation }: PerchOptions,
  { clock, pacer }: { readonly clock: Clock; readonly pacer: Pacer },
): Exchange {
  const warned = new Set<string>();
  const warn = ({ operation, url }: Request, headers: Headers): void => {
    const deprecation = readDeprecation(url, headers);
    if (deprecation === null || warned.has(operation)) return;
    warned.add(operation);
    onDeprecation?.(deprecation);
  };
  return async (request, signal) => {
    signal.throwIfAborted();
    const { url, method = 'GET', headers, body } = request;
    const init = { method, headers, redirect: 'error', signal } as const;
    const sent = fetch(url, body === undefined ? init : { ...init, body });
    const response = await sent.catch((cause) => {
      const fault = `The server at ${new URL(url).origin} does not respond.`;
      throw new ConnectionError('connection_failed', fault, cause);
    });
    if (request.surface !== undefined) pacer.note(request.surface, response.headers);
    warn(request, response.headers);
    if (response.ok || response.status === 304) return response;
    throw await toError(response, clock.now());
  };
}

/**
 * Runs `work` and returns its result. If `signal` or `watchdog` has aborted `work`, replaces the error of `work`.
 * @throws the reason of `signal` if `signal` was aborted; otherwise ConnectionError `no_response` if `watchdog` has
 * expired; otherwise the error of `work`
 */
export async function guard<Result>(
  watchdog: Watchdog,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!watchdog.isExpired) throw error;
    throw new ConnectionError('no_response', 'The server sent nothing for too long.', error);
  }
}

/** Creates the error for an unsuccessful response from the response body. */
async function toError(response: Response, nowMs: number): Promise<ProblemError | ResponseError> {
  const { status, headers } = response;
  const problem = parseJson(await readText(response));
  if (isProblem(problem)) {
    return new ProblemError(problem, headers.get('x-request-id') ?? undefined);
  }
  const fault = `The response has the status ${status}, and is not an error of Perch.`;
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), nowMs);
  return new ResponseError('unexpected_response', fault, { status, retryAfterMs });
}

function isProblem(value: unknown): value is Problem {
  if (!isRecord(value)) return false;
  const { code, title, detail, resolution, status, retry_after: seconds } = value;
  const texts = [code, title, detail, resolution];
  return (
    texts.every((text) => typeof text === 'string') &&
    typeof status === 'number' &&
    (seconds === undefined || typeof seconds === 'number')
  );
}
