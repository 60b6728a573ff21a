import * as z from 'zod';
import { domainName, isPublicName, publicHostOf } from '../lib/http/public-host.ts';
import { parseUrl } from '../lib/http/url.ts';
import { Problem, quoteInput } from '../lib/problem.ts';

/** Platform. Later versions may add platforms, so clients must accept unknown values. */
export const platform = z.enum(['x', 'bluesky', 'mastodon', 'activitypub', 'sample']);
export type Platform = z.output<typeof platform>;

/** Targets of a search: platforms, archive of imported posts, and fictional sample data. */
export const searchPlatforms = ['x', 'bluesky', 'mastodon', 'archive', 'sample'] as const;

/** Names of platforms and search targets for use in sentences. */
export const platformNames: Readonly<Record<Platform | SearchPlatform, string>> = {
  x: 'X',
  bluesky: 'Bluesky',
  mastodon: 'Mastodon',
  activitypub: 'ActivityPub',
  sample: 'the sample',
  archive: 'the archive',
};

export type SearchPlatform = (typeof searchPlatforms)[number];

/** Account. `handle` is lower case without `@`; `user@host` on all servers of the fediverse. */
export interface AccountReference {
  readonly platform: Platform;
  readonly handle: string;
}

/**
 * Post. `handle` is `null` if its URL contains none, but never on Mastodon. On ActivityPub, `id` is
 * a URL and `handle` is `null`.
 */
export interface PostReference {
  readonly platform: Platform;
  readonly handle: string | null;
  readonly id: string;
}

const handleForms: readonly (readonly [Platform, RegExp])[] = [
  ['x', /^[a-z0-9_]{1,15}$/],
  ['sample', /^[a-z0-9-]{1,63}\.example$/],
  ['bluesky', /^did:plc:[a-z2-7]{24}$/],
  [
    'bluesky',
    /^did:web:(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
  ],
  ['bluesky', domainName],
  ['mastodon', /^[a-z0-9_](?:[a-z0-9_.-]{0,62}[a-z0-9_])?@[a-z0-9.-]{4,253}$/],
];

const idForms: Readonly<Record<Platform, RegExp>> = {
  x: /^[1-9][0-9]{0,18}$/,
  bluesky: /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/,
  mastodon: /^[\w-]{1,64}$/,
  activitypub: /^https:\/\/[a-z\d.-]+\/[\x21-\x7e]{1,2000}$/,
  sample: /^[1-9][0-9]{0,18}$/,
};

const maxSnowflake = 9223372036854775807n; // maximum signed 64-bit number

/** Parses a handle with or without `@`, in any case. `null` if no platform has such handles. */
export function parseHandle(text: string): AccountReference | null {
  // ASCII only, because `toLowerCase` converts the Kelvin sign to `k`.
  const handle = text.replace(/^@/, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const form = handleForms.find(([, pattern]) => pattern.test(handle));
  if (form === undefined) return null;
  if (form[0] === 'mastodon' && !isPublicName(handle.slice(handle.lastIndexOf('@') + 1)))
    return null;
  return { platform: form[0], handle };
}

export function isPostId(of: Platform, id: string): boolean {
  if (!idForms[of].test(id)) return false;
  if (of === 'activitypub') return isObjectUrl(id);
  return of !== 'x' || BigInt(id) <= maxSnowflake;
}

function isObjectUrl(id: string): boolean {
  const url = parseUrl(id);
  return url !== null && url.href === id && publicHostOf(url) !== null;
}

/** Platforms on which the id of a post is unique. */
const hasUniqueIds = (of: Platform): boolean =>
  of === 'x' || of === 'sample' || of === 'activitypub';

/** Returns a key that includes the handle if post ids are not unique on the platform. */
export const identifyPost = ({ platform: of, handle, id }: PostReference): string =>
  `${of} ${hasUniqueIds(of) ? '' : handle} ${id}`;

/** Placeholder in X URLs without a handle (`x.com/i/status/20`). No account can have it. */
export const nobodyOnX = 'i';

/** Returns a reference to a post; `null` if the handle or the id is malformed. */
export function toPostReference(handle: string, id: string): PostReference | null {
  if (isPostId('activitypub', id)) return { platform: 'activitypub', handle: null, id };
  const account = parseHandle(handle);
  if (account === null || !isPostId(account.platform, id)) return null;
  const isNobody = account.platform === 'x' && account.handle === nobodyOnX;
  return isNobody ? { platform: 'x', handle: null, id } : { ...account, id };
}

/** Parses both parameters. @throws Problem `invalid_params`, which names the malformed one */
export function parsePostParams(handle: string, id: string): PostReference {
  const post = toPostReference(handle, id);
  if (post !== null) return post;
  const [name, value, fault] =
    parseHandle(handle) === null
      ? (['handle', handle, 'not a handle of a known platform'] as const)
      : (['id', id, 'not a post id of this platform'] as const);
  throw new Problem('invalid_params', {
    param: name,
    detail: `The parameter \`${name}\` has the value ${quoteInput(value)}, which is ${fault}.`,
  });
}

/** Mastodon server for requests that name no server, such as searches and hashtags. */
export const defaultMastodonHost = 'mastodon.social';
