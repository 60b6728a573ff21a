import { type Account, toWebsite } from '../../model/account.ts';
import type { Post, Tombstone } from '../../model/post.ts';
import { missingSentences } from '../../platforms/missing.ts';
import { xPostUrl } from '../../platforms/x.ts';

/**
 * Placeholder for Perch's own address in stored JSON, as in `"perch:/ada.example"`. The address can change
 * between two starts.
 */
const ownAddress = 'perch:';

/** Reads stored JSON back. */
export interface Revive {
  /** Reads a post, without the posts of protected accounts that it quotes. */
  post(json: string): Post;
  account(json: string): Account;
}

/** What stored JSON is read back by. */
export interface ReviveOptions {
  /** Perch's own address, put where the placeholder stands. */
  readonly baseUrl: string;
  /** Tells whether an account is known to be protected by now. */
  readonly isProtected: (account: Account) => boolean;
}

/** Creates what reads stored JSON back. */
export function createRevive({ baseUrl, isProtected }: ReviveOptions): Revive {
  const parse = (json: string) => parseStored(json.replaceAll(`"${ownAddress}/`, `"${baseUrl}/`));
  const hide = (post: Post): Post => {
    if (post.type === 'tombstone' || post.quote === null) return post;
    return { ...post, quote: isHidden(post.quote) ? toPrivate(post.quote) : hide(post.quote) };
  };
  const isHidden = ({ author }: Post) =>
    author !== null && (author.protected || isProtected(author));
  return {
    post: (json) => hide(parse(json) as Post), // written by `putPost` from a Post
    account: (json) => parse(json) as Account, // written by `putAccount` from an Account
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

/** Who wrote it is not told, not even by its address. */
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
