import { setMaxListeners } from 'node:events';
import { openHostPools } from './host-pools.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  openClientOver,
  type Sender,
} from './http-client.ts';
import { connectPublicly } from './public-connection.ts';
import { isPublicUrl } from './public-host.ts';
import { type PublicHttpOptions, publicNetwork } from './public-network.ts';

/** Maximum number of hosts whose connections are kept open. */
const maxHosts = 64;

/** Maximum bytes of a body: anybody can run such a host, and a page of posts has a fifth of this. */
const maxBodyBytes = 1_048_576;

/**
 * Opens an HTTP client for hosts that callers name. It sends requests over `https` to port 443 only, and
 * only to hosts with a public name all of whose addresses are public; each connection and each redirect
 * is checked anew. Any other request fails with `refused` before a connection is made. A body may have
 * 1 MiB, or `options.maxBytes` where that is less.
 *
 * @param network Replaced by tests only; no setting leads here.
 */
export function openPublicHttpClient(
  options: HttpClientOptions,
  network: PublicHttpOptions = publicNetwork,
): HttpClient {
  const limits = { ...options, maxBytes: Math.min(options.maxBytes, maxBodyBytes) };
  return openClientOver(limits, {
    openSender: () => openPublicSender(limits, network),
    isAllowed: isPublicUrl,
  });
}

async function openPublicSender(
  options: HttpClientOptions,
  network: PublicHttpOptions,
): Promise<Sender> {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // each connection that is being made listens
  const timeoutMs = options.connectTimeoutMs;
  const pools = await openHostPools({
    connect: (host) => connectPublicly(host, { network, timeoutMs, signal: closing.signal }),
    maxHosts,
    timeoutMs: options.attemptTimeoutMs,
  });
  return {
    request: (request) => pools.request(request),
    destroy: async () => {
      closing.abort();
      await pools.destroy();
    },
  };
}
