import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import { publicHostOf } from '../../core/http/public-host.ts';
import { parseUrl } from '../../core/http/url.ts';
import { eachOf, token, url } from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { type Home, isOwn, splitHandle } from './identity.ts';
import { createMemory } from './memory.ts';
import { parseAccount } from './payload.ts';
import type { FoundReply, Reply, Servers } from './servers.ts';

/** What a server says of its own, and where it was asked. */
export interface HomeReply {
  readonly home: Home;
  readonly reply: Exclude<Reply, { readonly is: 'no api' }>;
}

/** Finds the server of a handle and asks it. */
export interface Homes {
  /**
   * Asks the server that the domain of a handle names. One that does not speak the API may name the
   * host that does (Mastodon, section 1): that is asked in its place, if it says that the account is
   * its own.
   *
   * @throws ProviderError, and what `takeRequest` throws
   */
  ask(handle: string, toPath: (home: Home) => string, context: RequestContext): Promise<HomeReply>;
}

/** Handles whose servers are elsewhere; more are looked up again. */
const maxMoved = 2000;

const movedForMs = 3_600_000;

/** Creates the way to servers by handle. */
export function createHomes(servers: Servers, clock: Clock): Homes {
  const moved = createMemory<string>({ clock, maxEntries: maxMoved, ttlMs: movedForMs });
  const askAt = async (
    home: Home,
    path: string,
    context: RequestContext,
  ): Promise<HomeReply['reply']> => {
    const reply = await servers.get(home.host, path, context);
    if (reply.is === 'no api') throw reply.failure;
    return reply;
  };
  return {
    ask: async (handle, toPath, context) => {
      const { domain } = splitHandle(handle);
      const known: Home = { host: moved.get(handle) ?? domain, domain };
      const first = await servers.get(known.host, toPath(known), context);
      if (first.is !== 'no api') return { home: known, reply: first };
      if (known.host !== domain) {
        moved.delete(handle);
        throw first.failure;
      }
      const host = await findHost(servers, { handle, to: first.to }, context);
      if (host === null) throw first.failure;
      moved.set(handle, host);
      const home = { host, domain };
      return { home, reply: await askAt(home, toPath(home), context) };
    },
  };
}

/** Gives the path that looks up an account at its home. */
export function lookupPath(handle: string, { host, domain }: Home): string {
  const { user } = splitHandle(handle);
  // A host that stands in for another one is asked by the full handle, which it knows as its own.
  const acct = host === domain ? user : handle;
  return `/api/v1/accounts/lookup?acct=${encodeURIComponent(acct)}`;
}

interface Astray {
  readonly handle: string;
  /** The host that a redirect names. */
  readonly to: string | null | undefined;
}

/** Gives the host that has the account, in one step; null where none says so of itself. */
async function findHost(
  servers: Servers,
  { handle, to }: Astray,
  context: RequestContext,
): Promise<string | null> {
  const { domain } = splitHandle(handle);
  const host = to === undefined ? await askWebFinger(servers, handle, context) : to;
  if (host === null || host === domain) return null;
  const reply = await servers.get(host, lookupPath(handle, { host, domain }), context);
  const account = reply.is === 'found' ? parseAccount(reply.body) : null;
  return account !== null && isOwn(account) ? host : null;
}

const webFinger = z.object({
  links: eachOf(z.object({ rel: token, href: url }), maximums.fields),
});

/** RFC 7033. The address of the account itself is on the host that has it; a redirect leads there too. */
async function askWebFinger(
  servers: Servers,
  handle: string,
  context: RequestContext,
): Promise<string | null> {
  const { domain } = splitHandle(handle);
  const path = `/.well-known/webfinger?resource=${encodeURIComponent(`acct:${handle}`)}`;
  const reply = await servers.get(domain, path, context);
  if (reply.is === 'no api') return reply.to ?? null;
  return reply.is === 'found' ? selfHost(reply) : null;
}

function selfHost({ body }: FoundReply): string | null {
  const parsed = webFinger.safeParse(body);
  const links = parsed.success ? parsed.data.links : [];
  const selves = links.filter(({ rel }) => rel === 'self').map(({ href }) => parseUrl(href));
  const self = selves.find((url) => url !== null);
  return self ? publicHostOf(self) : null;
}
