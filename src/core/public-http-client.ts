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

/** How many hosts connections are kept to. */
const maxHosts = 64;

/**
 * Opens an HTTP client for hosts that callers have named. It asks by `https` on port 443 alone, and only
 * hosts with a public name all of whose addresses are public, judged anew for each connection and for
 * each redirect. Whatever else is asked fails as `refused`, before anything is connected to.
 *
 * @param network Tests have a resolver and a connector of their own; no setting leads here.
 */
export function openPublicHttpClient(
  options: HttpClientOptions,
  network: PublicHttpOptions = publicNetwork,
): HttpClient {
  return openClientOver(options, {
    openSender: () => openPublicSender(options, network),
    isAllowed: isPublicUrl,
  });
}

async function openPublicSender(
  options: HttpClientOptions,
  network: PublicHttpOptions,
): Promise<Sender> {
  const closing = new AbortController();
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
