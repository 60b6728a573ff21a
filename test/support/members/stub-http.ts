import { type HttpClient, HttpFailure } from '../../../src/core/http/http-client.ts';

/** Creates a client that answers each URL with a body of JSON, without a network. */
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
