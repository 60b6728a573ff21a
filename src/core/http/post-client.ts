import type { Agent } from 'undici';
import type { Clock } from '../clock.ts';
import { readHead } from './http-client.ts';

interface PostClientOptions {
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
  readonly clock: Clock;
}

interface Posting {
  /** Sent as JSON. */
  readonly body: unknown;
  readonly authorization?: string | undefined;
  readonly accept: string;
  /** Ends the exchange and closes its connection, also while the body arrives. */
  readonly signal: AbortSignal;
}

export type PostClient = ReturnType<typeof openPostClient>;

/** A reply of any status; `chunks` is its body as it arrives. */
export type StreamedReply = Awaited<ReturnType<PostClient['post']>>;

/** Opens a client for one address that the operator has chosen. Close it with `close()`. */
export function openPostClient(options: PostClientOptions) {
  let pool: Promise<Agent> | undefined;
  return {
    /**
     * Sends JSON. No redirect is followed. Nothing limits the time or the size of the reply: the caller does, by the
     * signal.
     *
     * @throws the signal's reason; Error of undici if there is no reply
     */
    post: async (url: URL, posting: Posting) => {
      pool ??= openPool(options); // the library is loaded with the first request
      return send(await pool, url, { ...options, ...posting });
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

async function send(
  agent: Agent,
  { origin, pathname, search }: URL,
  { body, authorization, accept, signal, userAgent, clock }: PostClientOptions & Posting,
) {
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
