import { type Account, toWebsite } from '../../model/account.ts';
import type { Post, Tombstone } from '../../model/post.ts';
import { missingSentences } from '../../platforms/missing.ts';
import { xPostUrl } from '../../platforms/x.ts';

/** Placeholder in stored JSON for Perch's own address, which can change between two starts. */
const ownAddress = 'perch:';

export type Revive = ReturnType<typeof createRevive>;

/** Creates the reader of stored JSON. `isProtected` returns whether an account is known to be protected by now. */
export function createRevive(baseUrl: string, isProtected: (account: Account) => boolean) {
  const parse = (json: string) => parseStored(json.replaceAll(`"${ownAddress}/`, `"${baseUrl}/`));
  const hide = (post: Post): Post => {
    if (post.type === 'tombstone' || post.quote === null) return post;
    return { ...post, quote: isHidden(post.quote) ? toPrivate(post.quote) : hide(post.quote) };
  };
  const isHidden = ({ author }: Post) =>
    author !== null && (author.protected || isProtected(author));
  return {
    baseUrl,
    /** Parses a post, without the posts of protected accounts that it quotes. */
    post: (json: string): Post => hide(parse(json) as Post), // written by `putPost` from a Post
    account: (json: string): Account => parse(json) as Account, // written by `putAccount` from an Account
  };
}

/** Parses the JSON of an account or a post, also as it was written when `website` was text. */
export function parseStored(json: string): unknown {
  // Within a text the quotation marks would be escaped, so most JSON is parsed without the slow reviver.
  return /"website"\s*:\s*"/.test(json) ? JSON.parse(json, reviveWebsite) : JSON.parse(json);
}

function reviveWebsite(name: string, value: unknown): unknown {
  return name === 'website' && typeof value === 'string' ? toWebsite(value) : value;
}

/** Returns the placeholder of a hidden post, which does not name its author, not even by its address. */
function toPrivate({ id, platform }: Post): Tombstone {
  return {
    type: 'tombstone',
    id,
    url: platform === 'x' && id !== null ? xPostUrl(null, id) : null,
    text: missingSentences.private,
    reason: 'private',
    author: null,
    context: null,
    platform,
  };
}
