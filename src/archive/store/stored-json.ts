import { type Account, toWebsite } from '../../model/account.ts';
import type { Post, Tombstone } from '../../model/post.ts';
import { toTombstone, toUnavailability } from '../../normalize/unavailable.ts';
import { xPostUrl } from '../../normalize/x.ts';
import type { MediaLinks } from '../media/media-rows.ts';

const ownAddress = 'perch:';

export type RowDecoder = ReturnType<typeof createRowDecoder>;

interface DecoderOptions {
  readonly baseUrl: string;
  readonly isProtected: (account: Account) => boolean;
  /** Replaces media URLs with URLs of stored copies; `null` leaves all URLs unchanged. */
  readonly links: MediaLinks | null;
}

export function createRowDecoder({ baseUrl, isProtected, links }: DecoderOptions) {
  const parse = (json: string) => parseStored(json.replaceAll(`"${ownAddress}/`, `"${baseUrl}/`));
  const hide = (post: Post): Post => {
    if (post.type === 'tombstone' || post.quote === null) return post;
    return { ...post, quote: isHidden(post.quote) ? toPrivate(post.quote) : hide(post.quote) };
  };
  const isHidden = ({ author }: Post) =>
    author !== null && (author.protected || isProtected(author));
  return {
    baseUrl,
    /** Parses a post. Replaces quoted posts of protected accounts with placeholders. */
    post: (json: string): Post => {
      const post = hide(parse(json) as Post); // written by `putPost` from a Post
      return links === null || links.isUnchanged(json) ? post : links.post(post);
    },
    account: (json: string): Account => {
      const account = parse(json) as Account; // written by `putAccount` from an Account
      return links === null || links.isUnchanged(json) ? account : links.account(account);
    },
  };
}

/** Parses an account or post. Converts `website` strings of older versions to objects. */
export function parseStored(json: string): unknown {
  // Quotation marks within strings are escaped, so the test is exact. Most rows avoid the slow
  // reviver.
  return /"website"\s*:\s*"/.test(json) ? JSON.parse(json, reviveWebsite) : JSON.parse(json);
}

const reviveWebsite = (name: string, value: unknown): unknown =>
  name === 'website' && typeof value === 'string' ? toWebsite(value) : value;

function toPrivate({ id, platform }: Post): Tombstone {
  const url = platform === 'x' && id !== null ? xPostUrl(null, id) : null;
  return toTombstone(toUnavailability('protected'), { id, url, platform });
}
