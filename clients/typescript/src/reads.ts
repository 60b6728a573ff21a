import { parseJson } from './bodies.ts';
import { ResponseError } from './errors.ts';
import type { Request } from './exchange.ts';
import type { CallOptions, PerchOptions } from './options.ts';
import type { Surface } from './pacing.ts';
import type { Transport } from './transport.ts';

/** Query parameters. `undefined` parameters are not sent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Read operation of the API. */
export interface Read {
  readonly operation: string;
  /** Path below the base URL, with encoded segments. */
  readonly path: string;
  readonly query: Query;
  readonly surface: Surface;
  /** Format of the response: `ndjson` for one JSON object per line. Default: one JSON document. */
  readonly format?: 'ndjson';
}

/** Client that sends read operations to the server. */
export interface Reader {
  readonly transport: Transport;
  toRequest(read: Read): Request;
  /**
   * Sends a read operation, and returns the JSON body of the response. Uses the cache, if there is one.
   * @throws PerchError
   */
  read<Body>(read: Read, call?: CallOptions): Promise<Body>;
}

export function createReader(
  transport: Transport,
  { baseUrl, apiKey, cache }: PerchOptions,
): Reader {
  const base = String(baseUrl).replace(/\/+$/, '');
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const toRequest = ({ operation, path, query, surface, format }: Read): Request => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, format: format ?? 'json' })) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const url = `${base}${path}?${parameters}`;
    const accept = format === 'ndjson' ? 'application/x-ndjson' : 'application/json';
    return { operation, url, surface, headers: { accept, ...authorization } };
  };
  const read = async <Body>(operation: Read, call?: CallOptions): Promise<Body> => {
    const request = toRequest(operation);
    const cached = await cache?.get(request.url);
    const validator = cached === undefined ? {} : { 'if-none-match': cached.etag };
    const headers = { ...request.headers, ...validator };
    const reply = await transport.send({ ...request, headers }, call);
    if (reply.status === 304 && cached !== undefined) return toBody(cached.body, reply.status);
    const body = toBody<Body>(reply.text, reply.status);
    const etag = reply.headers.get('etag');
    const isStorable = !/\bno-store\b/.test(reply.headers.get('cache-control') ?? '');
    if (cache !== undefined && etag !== null && isStorable) {
      await cache.set(request.url, { etag, body: reply.text });
    }
    return body;
  };
  return { transport, toRequest, read };
}

/**
 * Parses a JSON response body. The API description of the server defines the type `Body`.
 * @throws ResponseError if the body is not a JSON object or array
 */
export function toBody<Body>(text: string, status: number): Body {
  const body = parseJson(text);
  if (typeof body === 'object' && body !== null) return body as Body;
  throw new ResponseError('unexpected_response', 'The response is not JSON.', { status });
}
