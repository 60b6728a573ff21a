import { expect } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import type { Account } from '../../src/model/account.ts';
import type { Post, Status } from '../../src/model/post.ts';
import { parseAddress } from '../../src/reads/addresses/address.ts';

const place = {
  baseUrl: 'https://perch.example',
  xMirrors: [],
  mastodonSearchHost: 'mastodon.social',
};

/** Pattern of URLs in synthetic recordings, with handles that no platform allows. */
const isInvented = /^https:\/\/(?:x\.com\/\w{16,}|bsky\.app\/profile\/did:plc:\w{1,23})(?:\/|$)/;

type Named = Readonly<{ url: string | null; names: string }>;

/** Checks that Perch reads the URLs that it prints for posts and accounts as what they name, or says why it cannot. */
export function expectReadable(rows: readonly (Post | Account)[]): void {
  const printed = rows.flatMap((row) => ('type' in row ? urlsOf(row) : [ofAccount(row)]));
  for (const { url, names } of printed) {
    if (url !== null && !isInvented.test(url))
      expect(`${url} ${readAs(url)}`).toBe(`${url} ${names}`);
  }
}

function urlsOf(post: Post): readonly Named[] {
  const own = { url: post.url, names: 'getPost' };
  if (post.type === 'tombstone') return [own];
  const { author, reposted_by: reposter, replying_to: parent } = post;
  return [
    own,
    ofAccount(author),
    ...(reposter === null ? [] : [ofAccount(reposter)]),
    ...(parent === null ? [] : [{ url: parent.url, names: 'getPost' }]),
    ...(post.quote ? urlsOf(post.quote) : []),
    ...facetsOf(post),
  ];
}

const ofAccount = ({ url }: Account): Named => ({ url, names: 'getProfile' });

const readOfFacet: Readonly<Record<string, string>> = {
  mention: 'getProfile',
  hashtag: 'searchPosts',
  symbol: 'searchPosts',
};

/** On the fediverse, the author's server chooses the URLs of mentions and hashtags. */
function facetsOf({ platform, facets }: Status): readonly Named[] {
  if (platform === 'mastodon' || platform === 'activitypub') return [];
  return facets.flatMap(({ type, url = null }) => {
    const names = readOfFacet[type];
    return names === undefined ? [] : [{ url, names }];
  });
}

function readAs(url: string): string {
  try {
    return parseAddress(url, place).read;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Some exports of X have only the numbers of accounts.
    return /only by its number/.test(error.message) ? 'getProfile' : `refused: ${error.message}`;
  }
}
