import type { Agent } from 'undici';
import type { Clock } from '../clock.ts';
import { type HttpHead, readHead } from './http-head.ts';

/** How requests are sent. Times in milliseconds. */
export interface PostClientOptions {
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
  readonly clock: Clock;
}

/** A request with a body of JSON. */
export interface Posting {
  readonly body: unknown;
  /** What goes into `Authorization`; absent for nothing. */
  readonly authorization?: string | undefined;
  /** The media types that are understood. */
  readonly accept: string;
  /** Ends the exchange and closes its connection, also while the body arrives. */
  readonly signal: AbortSignal;
}

/** What came back; the body as it arrives. */
export interface StreamedReply extends HttpHead {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Sends POST requests to one address that the operator has chosen. Close it with `close()`. */
export interface PostClient {
  /**
   * Sends JSON and gives the reply, whatever its status. No redirect is followed. Nothing here limits
   * the time or the size of a reply: the caller does, by the signal.
   *
   * @throws the signal's reason; Error of undici where there is no reply
   */
  post(url: URL, posting: Posting): Promise<StreamedReply>;
  close(): Promise<void>;
}

/** Opens a client with its own pool of connections; the library behind it is loaded with the first request. */
export function openPostClient(options: PostClientOptions): PostClient {
  let pool: Promise<Agent> | undefined;
  return {
    post: async (url, posting) => {
      pool ??= openPool(options);
      return send(url, posting, { ...options, agent: await pool });
    },
    close: async () => {
      await (await pool)?.destroy();
    },
  };
}

async function openPool({ connectTimeoutMs }: PostClientOptions): Promise<Agent> {
  const undici = await import('undici');
  return new undici.Agent({
    connect: { timeout: connectTimeoutMs },
    // The caller knows what is too long.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

interface Sending extends PostClientOptions {
  readonly agent: Agent;
}

async function send(
  { origin, pathname, search }: URL,
  { body, authorization, accept, signal }: Posting,
  { agent, userAgent, clock }: Sending,
): Promise<StreamedReply> {
  const response = await agent.request({
    origin,
    path: `${pathname}${search}`,
    method: 'POST',
    headers: {
      'user-agent': userAgent,
      'content-type': 'application/json',
      accept,
      'accept-encoding': 'identity',
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify(body),
    signal,
  });
  // A body that nobody reads to its end fails when the exchange is ended; that is meant.
  response.body.on('error', () => {});
  const chunks = response.body as AsyncIterable<Uint8Array>;
  return { ...readHead(response, clock.now()), chunks };
}
