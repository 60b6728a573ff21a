import type { Agent } from 'undici';
import { type HttpClientOptions, readHead } from './http-client.ts';

type PostClientOptions = Pick<HttpClientOptions, 'connectTimeoutMs' | 'userAgent' | 'clock'>;

interface Posting {
  /** Sent as JSON. */
  readonly body: unknown;
  readonly authorization?: string | undefined;
  readonly accept: string;
  /** Ends the exchange, also while the body arrives. */
  readonly signal: AbortSignal;
}

export type PostClient = ReturnType<typeof openPostClient>;

/** A reply of any status; `chunks` is its body as it arrives. */
export type StreamedReply = Awaited<ReturnType<PostClient['post']>>;

/** Opens a client for one address that the operator has chosen. Close it with `close()`. */
export function openPostClient(options: PostClientOptions) {
  let pool: Promise<Agent> | undefined;
  return {
    /** Sends JSON and follows no redirect. Only the signal limits the reply; its reason is thrown, or undici's Error. */
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
      ...(authorization !== undefined && { authorization }),
    },
    body: JSON.stringify(body),
    signal,
  });
  response.body.on('error', () => {}); // expected where the exchange ends before the body
  const chunks = response.body as AsyncIterable<Uint8Array>;
  return { ...readHead(response, clock.now()), chunks };
}
