import { type HttpClient, HttpFailure } from '../../../src/lib/http/http-client.ts';

/** Creates an HTTP client that returns a JSON body for each URL without a network. */
export function createStubHttp(bodyOf: (url: URL) => unknown): HttpClient {
  return {
    get: async (url) => {
      const body = bodyOf(url);
      if (body === undefined) throw new HttpFailure('connect', 'Nothing was recorded here.');
      return {
        status: 200,
        mediaType: 'application/json',
        retryAfterSeconds: undefined,
        text: JSON.stringify(body),
        header: () => undefined,
      };
    },
    close: async () => {},
  };
}
