import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import { publicHostOf } from '../../core/http/public-host.ts';
import { parseUrl } from '../../core/http/url.ts';
import { eachOf, readerOf, token, url } from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { createMemory } from '../memory.ts';
import { type Home, isOwn, splitHandle } from './identity.ts';
import { parseAccount } from './payload.ts';
import type { AskServer, Reply } from './servers.ts';

/**
 * Asks the server that the domain of a handle names, or the host that it names, if that says that
 * the
 * account is its own. Throws ProviderError, and what `takeRequest` throws.
 */
export type AskHome = (
  handle: string,
  toPath: (home: Home) => string,
  context: RequestContext,
) => Promise<{ readonly home: Home; readonly reply: Reply }>;

/** Maximum number of handles whose host is remembered because it is not their domain. */
const maxMoved = 2000;

const movedForMs = 3_600_000;

export function createHomes(askServer: AskServer, clock: Clock): AskHome {
  const moved = createMemory<string>({ clock, maxEntries: maxMoved, ttlMs: movedForMs });
  return async (handle, toPath, context) => {
    const { domain } = splitHandle(handle);
    const known: Home = { host: moved.get(handle) ?? domain, domain };
    const first = await askServer(known.host, toPath(known), context);
    if (first.is !== 'no api') return { home: known, reply: first };
    if (known.host !== domain) {
      moved.delete(handle);
      throw first.failure;
    }
    const host = await findHost(askServer, { handle, to: first.to }, context);
    if (host === null) throw first.failure;
    moved.set(handle, host);
    const home = { host, domain };
    const reply = await askServer(host, toPath(home), context);
    if (reply.is === 'no api') throw reply.failure;
    return { home, reply };
  };
}

export function lookupPath(handle: string, { host, domain }: Home): string {
  // A host that answers for another domain is asked by the full handle, which it knows as its own.
  const acct = host === domain ? splitHandle(handle).user : handle;
  return `/api/v1/accounts/lookup?acct=${encodeURIComponent(acct)}`;
}

/** Returns the host that has the account; `null` if none says so. `to` is where a redirect leads. */
async function findHost(
  askServer: AskServer,
  { handle, to }: { readonly handle: string; readonly to: string | null | undefined },
  context: RequestContext,
): Promise<string | null> {
  const { domain } = splitHandle(handle);
  const host = to === undefined ? await askWebFinger(askServer, handle, context) : to;
  if (host === null || host === domain) return null;
  const reply = await askServer(host, lookupPath(handle, { host, domain }), context);
  const account = reply.is === 'found' ? parseAccount(reply.body) : null;
  return account !== null && isOwn(account) ? host : null;
}

const readWebFinger = readerOf(
  z.object({ links: eachOf(z.object({ rel: token, href: url }), maximums.fields) }),
);

/** RFC 7033. The address of the account itself is on the host that has it; a redirect leads there too. */
async function askWebFinger(askServer: AskServer, handle: string, context: RequestContext) {
  const { domain } = splitHandle(handle);
  const path = `/.well-known/webfinger?resource=${encodeURIComponent(`acct:${handle}`)}`;
  const reply = await askServer(domain, path, context);
  if (reply.is === 'no api') return reply.to ?? null;
  const links = reply.is === 'found' ? (readWebFinger(reply.body)?.links ?? []) : [];
  const selves = links.filter(({ rel }) => rel === 'self').map(({ href }) => parseUrl(href));
  const self = selves.find((url) => url !== null);
  return self ? publicHostOf(self) : null;
}
