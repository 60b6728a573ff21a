import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../lib/http/http-client.ts';
import { parseJson } from '../lib/http/json-bodies.ts';
import { trimEndOf } from '../lib/text.ts';
import { toProviderError } from './failure.ts';

export interface UpstreamOptions {
  readonly http: HttpClient;
  /** Base URL of the API, for example `https://api.fxtwitter.com`. The URL may have a path. */
  readonly apiUrl: string;
}

/** Function for GET requests. Throws ProviderError or Problem (`rate_limited`, `overloaded`). */
export type Upstream = (path: string, context: RequestContext) => Promise<HttpAnswer>;

export function createUpstream({ http, apiUrl }: UpstreamOptions): Upstream {
  const base = trimEndOf(apiUrl, '/');
  return async (path, context) => {
    const url = new URL(`${base}${path}`);
    try {
      return await http.get(url, context);
    } catch (error) {
      throw error instanceof HttpFailure ? toProviderError(error) : error;
    }
  };
}

/** Parses a JSON body. Returns `undefined` for other content, such as an HTML error page. */
export const readJson = ({ mediaType, text }: HttpAnswer): unknown =>
  mediaType === 'application/json' ? parseJson(text) : undefined;

export type Body = Readonly<Record<string, unknown>>;

/** Parses a response body as a JSON object. Returns `null` for anything else. */
export function readBody(answer: HttpAnswer): Body | null {
  const body = readJson(answer);
  return isBody(body) ? body : null;
}

export const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
