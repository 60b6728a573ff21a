import type { BrowseItems, BrowseResult } from '../../model/results.ts';
import { cutAccount, cutPost } from './cut-texts.ts';
import type { Shortener } from './fit.ts';

/** Returns the ways of shortening a list. The next page continues after the kept items. */
export function shortenList(result: BrowseResult): Shortener<BrowseResult> {
  const { items, profile, bound } = result;
  const count = countOf(items);
  const keep = (kept: number, cut: string | null): BrowseResult => {
    const next = kept < count ? (bound?.nextAfter?.(kept) ?? null) : result.next;
    const left = kept < count ? describeLeft({ result, kept, hasNext: next !== null }) : null;
    const warning = [cut, left].filter(Boolean).join(' ');
    return {
      ...result,
      items: items && takeItems(items, kept),
      next,
      warnings: [...result.warnings, warning],
    };
  };
  return {
    count,
    keep: (kept) => keep(kept, null),
    cut: (max) => {
      const kept = keep(Math.min(1, count), describeCut(result, count));
      return {
        ...kept,
        items: kept.items && cutItems(kept.items, max),
        profile: profile && cutAccount(profile, max),
      };
    },
  };
}

const countOf = (items: BrowseItems | null): number =>
  items === null ? 0 : 'posts' in items ? items.posts.length : items.users.length;

const takeItems = (items: BrowseItems, count: number): BrowseItems =>
  'posts' in items
    ? { posts: items.posts.slice(0, count) }
    : { users: items.users.slice(0, count) };

const cutItems = (items: BrowseItems, max: number): BrowseItems =>
  'posts' in items
    ? { posts: items.posts.map((post) => cutPost(post, max)) }
    : { users: items.users.map((user) => cutAccount(user, max)) };

const nameItems = ({ items }: BrowseResult): string =>
  items !== null && 'users' in items ? 'accounts' : 'posts';

function describeCut(result: BrowseResult, count: number): string {
  const maxChars = result.bound?.maxChars;
  if (count === 0) return `The texts of this page were cut, because of \`max_chars=${maxChars}\`.`;
  const [one] = [nameItems(result).replace(/s$/, '')];
  return `The first ${one} is longer than \`max_chars=${maxChars}\`, and its texts were cut.`;
}

function describeLeft(left: {
  readonly result: BrowseResult;
  readonly kept: number;
  readonly hasNext: boolean;
}): string {
  const { result, kept, hasNext } = left;
  const about = `\`max_chars=${result.bound?.maxChars}\` leaves room for ${kept} of the ${countOf(result.items)} ${nameItems(result)} of this page.`;
  if (result.bound?.nextAfter === null) return `${about} The others are left out.`;
  return hasNext
    ? `${about} The next page continues after them.`
    : `${about} The list cannot be continued, because the source’s cursor is too long to be passed on.`;
}
