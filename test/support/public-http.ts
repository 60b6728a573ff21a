import { type HttpClient, HttpFailure } from '../../src/core/http/http-client.ts';
import type { FakeHandler } from './fake-upstream.ts';

/**
 * Makes a client that takes `https://{host}/…` for `{upstreamUrl}/{host}/…`, so that one fake upstream on
 * loopback stands for any number of public hosts, and refuses all other addresses.
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

/** Makes the handler of such an upstream: each host has its own, and any other host is not there. */
export function serveHosts(hosts: Readonly<Record<string, FakeHandler>>): FakeHandler {
  return (request, response) => {
    const [, host = '', path = '/'] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    request.url = path;
    const handler = hosts[host];
    if (handler === undefined) request.socket.resetAndDestroy();
    else handler(request, response);
  };
}
