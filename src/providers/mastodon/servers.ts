import type { Clock } from '../../core/clock.ts';
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../../core/http/http-client.ts';
import { publicHostOf } from '../../core/http/public-host.ts';
import type { ProviderError } from '../../platforms/provider-error.ts';
import { clampPause, defaultPauseSeconds } from '../gate.ts';
import {
  createThrottled,
  createUnavailable,
  createUnreadable,
  toServerFailure,
  toStatusFailure,
} from './failure.ts';
import { createHostGates, type HostGateOptions } from './host-gates.ts';

/** JSON that a server sent. */
export interface FoundReply {
  readonly is: 'found';
  readonly body: unknown;
  /** Gives a header by its name in lower case. */
  header(name: string): string | undefined;
}

/**
 * What a server says: what was asked for, that there is no such thing, that its account is suspended
 * (older servers), or nothing, as it does not speak the API. Then `to` is the host that it sends
 * callers to, `null` where it names one that is not to be asked, and undefined where it names none.
 */
export type Reply =
  | FoundReply
  | { readonly is: 'absent' }
  | { readonly is: 'suspended' }
  | {
      readonly is: 'no api';
      readonly to: string | null | undefined;
      readonly failure: ProviderError;
    };

/** The servers of Mastodon, each by its host. */
export interface Servers {
  /**
   * Gives what a server says to one GET of `path`, which may have a query.
   *
   * @throws ProviderError where it does not answer, or wants to be left alone, and what `takeRequest`
   *   throws. None of them is general, since they are about this server.
   */
  get(host: string, path: string, context: RequestContext): Promise<Reply>;
}

/** Options of `createServers`. */
export interface ServersOptions extends HostGateOptions {
  readonly http: HttpClient;
}

/** Creates the client of all servers. Each host has its own pause, breaker and bound of requests. */
export function createServers({ http, ...options }: ServersOptions): Servers {
  const gates = createHostGates(options);
  return {
    get: (host, path, context) =>
      gates.run({ host, path }, context, () =>
        ask(http, { host, path, context, clock: options.clock }),
      ),
  };
}

interface Asked {
  readonly host: string;
  readonly path: string;
  readonly context: RequestContext;
  readonly clock: Clock;
}

async function ask(http: HttpClient, { host, path, context, clock }: Asked): Promise<Reply> {
  const answer = await send(http, new URL(`https://${host}${path}`), context);
  if ('is' in answer) return answer;
  if (answer.status === 429) {
    const seconds = askedPause(answer, clock.now()) ?? defaultPauseSeconds;
    throw createThrottled(host, clampPause(seconds));
  }
  const failure = toStatusFailure(answer.status, host);
  if (failure !== null) throw failure;
  return toReply(answer, host);
}

async function send(
  http: HttpClient,
  url: URL,
  context: RequestContext,
): Promise<HttpAnswer | Reply> {
  try {
    return await http.get(url, context);
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const failure = toServerFailure(error);
    if (error.kind !== 'redirect' || !(error.cause instanceof URL)) throw failure;
    return { is: 'no api', to: publicHostOf(error.cause), failure };
  }
}

/** Gives the seconds that a server asks to wait: Mastodon names the moment (section 2). */
function askedPause({ retryAfterSeconds, header }: HttpAnswer, nowMs: number): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  const atMs = Date.parse(header('x-ratelimit-reset') ?? '');
  return Number.isNaN(atMs) ? undefined : Math.ceil((atMs - nowMs) / 1000);
}

function toReply(answer: HttpAnswer, host: string): Reply {
  const { status, mediaType, header } = answer;
  const isJson = /^application\/(?:[\w.-]+\+)?json$/.test(mediaType);
  if (!isJson) return { is: 'no api', to: undefined, failure: toNoApi(status, host) };
  const body = parseJson(answer.text);
  if (status === 200) return { is: 'found', body, header };
  if (status !== 404 && status !== 410) throw createUnreadable();
  // Anything may answer 404 in JSON; only in its own form is it the server's word (section 4).
  if (!isError(body)) return { is: 'no api', to: undefined, failure: toNoApi(status, host) };
  return { is: status === 404 ? 'absent' : 'suspended' };
}

function toNoApi(status: number, host: string): ProviderError {
  if (status === 200) return createUnreadable();
  return createUnavailable(`The server ${host} does not answer as servers of Mastodon do.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw createUnreadable(error);
  }
}

function isError(body: unknown): boolean {
  return (
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
  );
}
