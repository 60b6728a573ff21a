import * as z from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import { HttpFailure, type RequestContext } from '../../lib/http/http-client.ts';
import { publicHostOf } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { createCoalescer } from '../../lib/scheduling/coalesce.ts';
import { listOf, parserOf, token, url } from '../../normalize/lenient.ts';
import { type Home, isLocal, splitHandle } from '../../normalize/mastodon/identity.ts';
import { type AccountPayload, parseAccount } from '../../normalize/mastodon/wire.ts';
import { maximums } from '../../normalize/maximums.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import {
  createSuspended,
  createUnreadable,
  expectFound,
  type FetchFrom,
  type Reply,
} from './servers.ts';

interface ReadAccount {
  readonly row: AccountPayload;
  readonly home: Home;
}

const locatedMemory = { max: 5000, ttlMs: 300_000 };

export type Accounts = ReturnType<typeof createAccounts>;

/** Creates account readers. They throw ProviderError `missing` for absent and suspended ones. */
export function createAccounts(fetchFromHome: FetchFromHome, clock: Clock) {
  const located = createExpiringCache<LocatedAccount>(clock, locatedMemory);
  const share = createCoalescer<ReadAccount>((error) => !isServerFailure(error));
  const readAnew = async (handle: string, context: RequestContext): Promise<ReadAccount> => {
    const answered = await fetchFromHome(handle, (home) => lookupPath(handle, home), context);
    const account = { row: readRow(answered), home: answered.home };
    located.set(handle, toLocated(account));
    return account;
  };
  // The quotas and the signal are those of the first caller, so that its departure ends the read.
  const read = (handle: string, context: RequestContext) =>
    share(handle, undefined, () => readAnew(handle, context));
  const locate = async (handle: string, context: RequestContext): Promise<LocatedAccount> =>
    located.get(handle) ?? toLocated(await read(handle, context));
  return {
    read,
    locate,
    /** Reads a list of an account. `path`: end of the API path, with query parameters if any. */
    readList: async (handle: string, path: string, context: RequestContext) => {
      const account = await locate(handle, context);
      const toPath = () => `/api/v1/accounts/${account.id}/${path}`;
      const { reply } = await fetchFromHome(handle, toPath, context);
      if (reply.is !== 'found') located.delete(handle);
      return { account, reply: expectFound(reply, 'account') };
    },
  };
}

type LocatedAccount = ReturnType<typeof toLocated>;

function toLocated({ row, home }: ReadAccount) {
  return { home, id: row.id, hidesLists: row.hide_collections === true };
}

function isServerFailure(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return !(error.cause instanceof HttpFailure && error.cause.kind === 'aborted');
}

function readRow({ reply }: Awaited<ReturnType<FetchFromHome>>): AccountPayload {
  const row = parseAccount(expectFound(reply, 'account').body);
  // A server is not a trustworthy source for accounts of other servers.
  if (row === null || !isLocal(row)) throw createUnreadable();
  if (row.suspended === true) throw createSuspended();
  return row;
}

/** Function that asks the server that hosts an account. Throws ProviderError or Problem. */
export type FetchFromHome = (
  handle: string,
  toPath: (home: Home) => string,
  context: RequestContext,
) => Promise<{ readonly home: Home; readonly reply: Reply }>;

const movedMemory = { max: 2000, ttlMs: 3_600_000 };

export function createHomes(fetchFrom: FetchFrom, clock: Clock): FetchFromHome {
  const moved = createExpiringCache<string>(clock, movedMemory);
  return async (handle, toPath, context) => {
    const { domain } = splitHandle(handle);
    const known: Home = { host: moved.get(handle) ?? domain, domain };
    const first = await fetchFrom(known.host, toPath(known), context);
    if (first.is !== 'no api') return { home: known, reply: first };
    if (known.host !== domain) {
      moved.delete(handle);
      throw first.failure;
    }
    const host = await findHost(fetchFrom, { handle, to: first.to }, context);
    if (host === null) throw first.failure;
    moved.set(handle, host);
    const home = { host, domain };
    const reply = await fetchFrom(host, toPath(home), context);
    if (reply.is === 'no api') throw reply.failure;
    return { home, reply };
  };
}

export function lookupPath(handle: string, { host, domain }: Home): string {
  // A host with another domain needs the full handle, but treats the account as local.
  const acct = host === domain ? splitHandle(handle).user : handle;
  return `/api/v1/accounts/lookup?acct=${encodeURIComponent(acct)}`;
}

async function findHost(
  fetchFrom: FetchFrom,
  { handle, to }: { readonly handle: string; readonly to: string | null | undefined },
  context: RequestContext,
): Promise<string | null> {
  const { domain } = splitHandle(handle);
  const host = to === undefined ? await fetchWebFinger(fetchFrom, handle, context) : to;
  if (host === null || host === domain) return null;
  const reply = await fetchFrom(host, lookupPath(handle, { host, domain }), context);
  const account = reply.is === 'found' ? parseAccount(reply.body) : null;
  return account !== null && isLocal(account) ? host : null;
}

const readWebFinger = parserOf(
  z.object({ links: listOf(z.object({ rel: token, href: url }), maximums.fields) }),
);

/** Returns the public host of the `self` link or redirect (RFC 7033); `null` if there is none. */
async function fetchWebFinger(fetchFrom: FetchFrom, handle: string, context: RequestContext) {
  const { domain } = splitHandle(handle);
  const path = `/.well-known/webfinger?resource=${encodeURIComponent(`acct:${handle}`)}`;
  const reply = await fetchFrom(domain, path, context);
  if (reply.is === 'no api') return reply.to ?? null;
  const links = reply.is === 'found' ? (readWebFinger(reply.body)?.links ?? []) : [];
  const selves = links.filter(({ rel }) => rel === 'self').map(({ href }) => parseUrl(href));
  const self = selves.find((url) => url !== null);
  return self ? publicHostOf(self) : null;
}
