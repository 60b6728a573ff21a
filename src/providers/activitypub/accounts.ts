import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import type { RequestContext } from '../../lib/http/http-client.ts';
import type { Account } from '../../model/account.ts';
import { parseHandle } from '../../model/reference.ts';
import {
  type ActorPayload,
  describeActor,
  handleOfActor,
  parseActor,
  shapeActor,
  toUnreadAuthor,
} from '../../normalize/activitypub/actor.ts';
import { hostOf, isObject, referencedId } from '../../normalize/activitypub/object.ts';
import { toValues } from '../../normalize/activitypub/wire.ts';
import { splitHandle } from '../../normalize/mastodon/identity.ts';
import { toUnavailability } from '../../normalize/unavailable.ts';
import { toMissing } from '../failure.ts';
import { toHostFailure } from '../hosts.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import type { Objects } from './fetch-object.ts';
import { readOrNull } from './optional.ts';

const actorMemory = { max: 2000, ttlMs: 300_000 };

export type Accounts = ReturnType<typeof createAccounts>;

interface Named {
  readonly id: string;
  readonly handle: string;
}

/** Creates account readers. They throw ProviderError `missing` for absent and suspended ones. */
export function createAccounts(objects: Objects, clock: Clock) {
  const actors = createExpiringCache<ActorPayload>(clock, actorMemory);
  const handles = createExpiringCache<Named>(clock, actorMemory);
  const readActor = async (id: string, context: RequestContext): Promise<ActorPayload> =>
    actors.get(id) ?? fetchActor(id, context);
  const fetchActor = async (id: string, context: RequestContext): Promise<ActorPayload> => {
    const { body, url } = await objects.fetchObject(id, context);
    const actor = parseActor(body);
    if (actor === null) {
      throw toHostFailure('malformed', `The server ${url.hostname} sent no account.`);
    }
    if (actor.suspended === true) {
      throw toMissing(toUnavailability('suspended', 'This account is suspended.'));
    }
    actors.set(id, actor);
    return actor;
  };
  const find = (handle: string, context: RequestContext) => findActor(objects, handle, context);
  const accounts = {
    /** Fetches the account that a handle names on its server. */
    fetch: async (asked: string, context: RequestContext) => {
      const { id } = await find(asked, context);
      const actor = await fetchActor(id, context);
      const handle = await confirmHandle(actor, asked, { find, context });
      handles.set(asked, { id, handle });
      return { actor, handle };
    },
    /** Returns an account of which a profile or a list was read lately, or fetches it. */
    locate: async (asked: string, context: RequestContext) => {
      const known = handles.get(asked);
      if (known === undefined) return accounts.fetch(asked, context);
      return { actor: await readActor(known.id, context), handle: known.handle };
    },
    /** Reads an account by the id of its object. */
    readAccount: async (id: string, context: RequestContext): Promise<Account> =>
      shapeActor(await readActor(id, context)),
    /** Reads the author of a post, or returns what its id says of the account. */
    readAuthor: async (id: string, context: ProviderContext): Promise<Account> => {
      const actor = await readOrNull(context, () => readActor(id, context));
      // An account that names another server as its own is not one that this server vouches for.
      const isOwn = actor !== null && hostOf(actor.id) === hostOf(id);
      return isOwn ? shapeActor(actor) : toUnreadAuthor(id);
    },
  };
  return accounts;
}

/** Asks the server of a handle by WebFinger (RFC 7033) for the account that it names. */
async function findActor({ fetchJson }: Objects, handle: string, context: RequestContext) {
  const { domain } = splitHandle(handle);
  const resource = encodeURIComponent(`acct:${handle}`);
  const url = `https://${domain}/.well-known/webfinger?resource=${resource}`;
  const { body } = await fetchJson(url, context);
  const links = toValues(body.links).filter(isObject).slice(0, maxLinks);
  const self = links.find(({ rel, type }) => rel === 'self' && actorType.test(String(type)));
  const id = referencedId(self?.href);
  const fault = `The server ${domain} names no account of ActivityPub for @${handle}.`;
  if (id === null) throw toHostFailure('unavailable', fault, { isUnsupported: true });
  return { id, subject: typeof body.subject === 'string' ? body.subject : '' };
}

const maxLinks = 100;

const actorType = /^application\/(?:activity\+json|ld\+json\s*;.*activitystreams)/i;

interface Confirmation {
  readonly find: (handle: string, context: RequestContext) => ReturnType<typeof findActor>;
  readonly context: RequestContext;
}

/**
 * Returns the handle of an account. A domain may lend its name to an account on another server, but
 * only if that server agrees; otherwise anyone could show another person's account as theirs.
 */
async function confirmHandle(actor: ActorPayload, handle: string, confirmation: Confirmation) {
  const own = handleOfActor(actor);
  const { find, context } = confirmation;
  if (own.toLowerCase() === handle) return own;
  if (hostOf(actor.id) === splitHandle(handle).domain) return own;
  const found = await readOrNull(context, () => find(own, context));
  const isAgreed = found?.id === actor.id && found.subject.toLowerCase() === `acct:${handle}`;
  return isAgreed && parseHandle(handle) !== null ? handle : own;
}

const lists = ['followers', 'following', 'outbox'] as const;

export function fetchProfile(accounts: Accounts, { fetchPart }: Objects): Fetch<'profile'> {
  return async ({ account: { handle: asked } }, context) => {
    const { actor, handle } = await accounts.fetch(asked, context);
    const [followers = null, following = null, statuses = null] = await Promise.all(
      lists.map(async (name) => {
        const id = referencedId(actor[name]);
        const read = id === null ? null : await readOrNull(context, () => fetchPart(id, context));
        const total = read?.body.totalItems;
        return typeof total === 'number' && total >= 0 ? total : null;
      }),
    );
    const counts = { followers, following, statuses };
    const named = `The handle @${asked} leads to @${handle}, which does not confirm it.`;
    const isOther =
      handle.toLowerCase() !== asked && splitHandle(handle).domain !== splitHandle(asked).domain;
    return {
      account: shapeActor(actor, { handle, counts }),
      warnings: [...(isOther ? [named] : []), ...describeActor(actor)],
    };
  };
}
