import { type HttpClient, HttpFailure } from '../../src/lib/http/http-client.ts';
import type { FakeHandler } from './fake-upstream.ts';

/**
 * Creates a client that sends requests for `https://{host}/…` to `{upstreamUrl}/{host}/…`, so that one fake
 * upstream on loopback can replace any number of public hosts. It refuses all other URLs.
 */
export function withPublicHosts(http: HttpClient, upstreamUrl: string): HttpClient {
  return {
    get: (url, context) => {
      if (url.protocol !== 'https:' || url.port !== '') {
        return Promise.reject(new HttpFailure('connect', `Nothing public is at ${url}.`));
      }
      return http.get(new URL(`${upstreamUrl}/${url.host}${url.pathname}${url.search}`), context);
    },
    close: () => http.close(),
  };
}

/** Creates the handler of such an upstream. Each host has its own handler; other hosts get 404. */
export function serveHosts(hosts: Readonly<Record<string, FakeHandler>>): FakeHandler {
  return (request, response) => {
    const [, host = '', path = '/'] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    request.url = path;
    const handler = hosts[host];
    if (handler === undefined) request.socket.resetAndDestroy();
    else handler(request, response);
  };
}
