import type { Agent } from 'undici';
import {
  endWith,
  recordStatus,
  startUpstreamSpan,
  type TraceSpan,
  withoutPropagation,
} from '../tracing/tracing.ts';
import { type HttpClientOptions, readHead } from './http-client.ts';

type PostClientOptions = Pick<HttpClientOptions, 'connectTimeoutMs' | 'userAgent' | 'clock'>;

interface PostRequest {
  readonly body: unknown;
  readonly authorization?: string | undefined;
  readonly accept: string;
  /** Additional request headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Signal that aborts the request, even while the response body arrives. */
  readonly signal: AbortSignal;
  /** Parent of the request's tracing span; `undefined` if tracing is off. */
  readonly span?: TraceSpan | undefined;
  /** Name of the language model, for the tracing span of the request. */
  readonly model?: string | undefined;
}

export type PostClient = ReturnType<typeof openPostClient>;

/** HTTP response of any status. `chunks` yields the body as it arrives. */
export type StreamedReply = Awaited<ReturnType<PostClient['post']>>;

/** Opens a client for one server that the operator has configured. Callers must call `close`. */
export function openPostClient(options: PostClientOptions) {
  let pool: Promise<Agent> | undefined;
  return {
    /** Sends JSON, without redirects. After connecting, only `signal` limits the time. */
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

type SendOptions = PostClientOptions & PostRequest;

async function send(agent: Agent, url: URL, options: SendOptions) {
  const span = startUpstreamSpan(options.span, {
    method: 'POST',
    url,
    resendCount: 0,
    model: options.model,
  });
  const exchange = async () => {
    const response = await withoutPropagation(() => request(agent, url, options));
    recordStatus(span, response.statusCode);
    return response;
  };
  const response = await endWith(span, exchange());
  response.body.on('error', () => {}); // expected if the request is aborted before the body ends
  const chunks = response.body as AsyncIterable<Uint8Array>;
  return { ...readHead(response, options.clock.now()), chunks };
}

function request(
  agent: Agent,
  { origin, pathname, search }: URL,
  { body, authorization, accept, headers, signal, userAgent }: SendOptions,
) {
  return agent.request({
    origin,
    path: `${pathname}${search}`,
    method: 'POST',
    headers: {
      'user-agent': userAgent,
      'content-type': 'application/json',
      accept,
      'accept-encoding': 'identity',
      ...(authorization !== undefined && { authorization }),
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
  });
}
