import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type RequestContext,
} from '../core/http/http-client.ts';
import { trimEndOf } from '../core/trim-end.ts';
import { toProviderError } from './failure.ts';

/** What a provider with one remote host is built from. */
export interface UpstreamOptions {
  readonly http: HttpClient;
  /** The address of the API, for example `https://api.fxtwitter.com`. It may have a path. */
  readonly apiUrl: string;
}

/** The remote host behind a provider. */
export interface Upstream {
  /**
   * Gives the answer to one GET of `path`, which begins with a slash and may have a query.
   *
   * @throws ProviderError where there is no answer, and what `takeRequest` throws
   */
  get(path: string, context: RequestContext): Promise<HttpAnswer>;
}

/** Creates the way to ask an upstream. */
export function createUpstream({ http, apiUrl }: UpstreamOptions): Upstream {
  const base = trimEndOf(apiUrl, '/');
  return {
    get: async (path, context) => {
      const url = new URL(`${base}${path}`);
      try {
        return await http.get(url, context);
      } catch (error) {
        throw error instanceof HttpFailure ? toProviderError(error) : error;
      }
    },
  };
}

/** Reads JSON; undefined for anything else, such as the HTML page of a crash. */
export function readJson({ mediaType, text }: HttpAnswer): unknown {
  if (mediaType !== 'application/json') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // truncated or no JSON at all: the caller says what follows
  }
}
