import type { Agent } from 'undici';
import { type HttpClientOptions, readHead } from './http-client.ts';

type PostClientOptions = Pick<HttpClientOptions, 'connectTimeoutMs' | 'userAgent' | 'clock'>;

interface PostRequest {
  readonly body: unknown;
  readonly authorization?: string | undefined;
  readonly accept: string;
  /** Signal that aborts the request, also while the response body arrives. */
  readonly signal: AbortSignal;
}

export type PostClient = ReturnType<typeof openPostClient>;

/** HTTP response of any status. `chunks` yields the body as it arrives. */
export type StreamedReply = Awaited<ReturnType<PostClient['post']>>;

/** Opens an HTTP client for one server that the operator has configured. Callers must call `close`. */
export function openPostClient(options: PostClientOptions) {
  let pool: Promise<Agent> | undefined;
  return {
    /** Sends JSON in a POST request. Follows no redirects. Only `signal` ends a slow response. @throws Error */
    post: async (url: URL, request: PostRequest) => {
      pool ??= openPool(options); // undici is loaded with the first request
      return send(await pool, url, { ...options, ...request });
    },
    close: async () => {
      await (await pool)?.destroy();
    },
  };
}

async function openPool({ connectTimeoutMs }: PostClientOptions): Promise<Agent> {
  const { default: undici } = await import('undici');
  return new undici.Agent({
    connect: { timeout: connectTimeoutMs },
    // The caller's signal is the only timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

async function send(
  agent: Agent,
  { origin, pathname, search }: URL,
  { body, authorization, accept, signal, userAgent, clock }: PostClientOptions & PostRequest,
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
  response.body.on('error', () => {}); // expected if the request is aborted before the body ends
  const chunks = response.body as AsyncIterable<Uint8Array>;
  return { ...readHead(response, clock.now()), chunks };
}
