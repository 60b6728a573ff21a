import type { ArticleBlock } from '../model/article.ts';
import type { Post } from '../model/post.ts';
import type { ListItems, ListResult, PostResult } from '../model/results.ts';
import { type Shortening, shortenAccount, shortenPost } from '../normalize/shorten-post.ts';
import { shorten } from '../normalize/text.ts';
import { toThread } from './markdown/thread.ts';

type TextResult = PostResult | ListResult;

interface Fitted<Of extends TextResult> {
  readonly result: Of;
  readonly text: string;
  /** Number of items if others were left out; `null` if the result has all items. */
  readonly shown: number | null;
}

interface Shortener<Of extends TextResult> {
  readonly count: number;
  /** Returns the result with the `count` most important items, and a warning about the others. */
  keep(count: number): Of;
  /** Returns up to one item, in which no text is longer than `max`, and a warning. */
  cut(max: number): Of;
}

/** Shortest text of a post that is too long by itself, in UTF-16 code units. */
const shortestCut = 100;

/** Shortens a result to `result.bound.maxChars` UTF-16 code units: whole items, then texts. */
export function fitResult<Of extends TextResult>(
  result: Of,
  write: (result: Of) => string,
): Fitted<Of> {
  const whole = { result, text: write(result), shown: null };
  const maxChars = result.bound?.maxChars ?? Number.POSITIVE_INFINITY;
  if (whole.text.length <= maxChars) return whole;
  // The kind of a result decides how it is shortened, and stays the same, which the compiler cannot
  // follow.
  const shortener = (result.kind === 'post'
    ? shortenThread(result)
    : shortenList(result)) as unknown as Shortener<Of>;
  const { count } = shortener;
  const attempt = (shorter: Of, shown: number | null): Fitted<Of> => ({
    result: shorter,
    text: write(shorter),
    shown,
  });
  const bounds = { textLength: whole.text.length, maxChars };
  const kept = findLargest({ ...bounds, from: 0, to: count, precision: 1 }, (size) =>
    attempt(shortener.keep(size), size),
  );
  if (kept !== undefined) return kept;
  const shown = count > 1 ? 1 : null;
  const cut = findLargest({ ...bounds, from: shortestCut, to: maxChars, precision: 64 }, (size) =>
    attempt(shortener.cut(size), shown),
  );
  return cut ?? attempt(shortener.cut(shortestCut), shown);
}

interface Search {
  /** Size below all others, which is not tried. */
  readonly from: number;
  readonly to: number;
  readonly textLength: number;
  readonly maxChars: number;
  readonly precision: number;
}

function findLargest<Of extends TextResult>(
  { from, to, textLength, maxChars, precision }: Search,
  attempt: (size: number) => Fitted<Of>,
): Fitted<Of> | undefined {
  let best: Fitted<Of> | undefined;
  let low = { size: from, length: 0 };
  let high = { size: to, length: textLength };
  for (let tries = 0; high.size - low.size > precision; tries += 1) {
    const share =
      tries % 2 === 0 ? (maxChars - low.length) / Math.max(1, high.length - low.length) : 0.5;
    const size = low.size + Math.floor(share * (high.size - low.size));
    const inside = Math.min(Math.max(size, low.size + 1), high.size - 1);
    const tried = attempt(inside);
    const bracket = { size: inside, length: tried.text.length };
    if (tried.text.length > maxChars) {
      high = bracket;
    } else {
      low = bracket;
      best = tried;
    }
  }
  return best;
}

function shortenList(result: ListResult): Shortener<ListResult> {
  const { items, profile, bound } = result;
  const count = countOf(items);
  const keep = (kept: number, cut: string | null): ListResult => {
    const next = kept < count ? (bound?.nextAfter?.(kept) ?? null) : result.next;
    const left = kept < count ? describeLeftItems(result, kept, next !== null) : null;
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
        profile: profile && shortenAccount(profile, createCut(max)),
      };
    },
  };
}

const countOf = (items: ListItems | null): number =>
  items === null ? 0 : 'posts' in items ? items.posts.length : items.users.length;

const takeItems = (items: ListItems, count: number): ListItems =>
  'posts' in items
    ? { posts: items.posts.slice(0, count) }
    : { users: items.users.slice(0, count) };

const cutItems = (items: ListItems, max: number): ListItems =>
  'posts' in items
    ? { posts: items.posts.map((post) => cutPost(post, max)) }
    : { users: items.users.map((user) => shortenAccount(user, createCut(max))) };

const nameItems = ({ items }: ListResult): string =>
  items !== null && 'users' in items ? 'accounts' : 'posts';

function describeCut(result: ListResult, count: number): string {
  const maxChars = result.bound?.maxChars;
  if (count === 0) return `The texts of this page were cut, because of \`max_chars=${maxChars}\`.`;
  return `The first ${nameItems(result).replace(/s$/, '')} is longer than \`max_chars=${maxChars}\`, and its texts were cut.`;
}

function describeLeftItems(result: ListResult, kept: number, hasNext: boolean): string {
  const about = `\`max_chars=${result.bound?.maxChars}\` leaves room for ${kept} of the ${countOf(result.items)} ${nameItems(result)} of this page.`;
  if (result.bound?.nextAfter === null) return `${about} The others are left out.`;
  return hasNext
    ? `${about} The next page continues after them.`
    : `${about} The list cannot be continued, because the source’s cursor is too long to be passed on.`;
}

/** Leaves out replies from the end, then the posts farthest from the requested one. */
function shortenThread(result: PostResult): Shortener<PostResult> {
  const ranked = rankPosts(result);
  const keep = (count: number, cut: string | null): PostResult => {
    const kept = new Set(ranked.slice(0, count));
    const left = count < ranked.length ? describeLeftPosts(result, kept) : null;
    return {
      ...result,
      posts: result.posts.filter((post) => kept.has(post)),
      warnings: [...result.warnings, [cut, left].filter(Boolean).join(' ')],
    };
  };
  return {
    count: ranked.length,
    keep: (count) => keep(count, null),
    cut: (max) => {
      const about = `The post is longer than \`max_chars=${result.bound?.maxChars}\`, and its texts were cut.`;
      const kept = keep(1, about);
      return { ...kept, posts: kept.posts.map((post) => cutPost(post, max)) };
    },
  };
}

function rankPosts({ posts }: PostResult): readonly Post[] {
  const { main, chain, replies } = toThread(posts);
  const at = main === undefined ? 0 : chain.indexOf(main);
  // Of two posts with the same distance, the later one is more important, as with the parameter
  // `thread`.
  const distances = new Map(
    chain.map((post, index) => [post, Math.abs(index - at) + (index < at ? 0.5 : 0)]),
  );
  const distanceOf = (post: Post) => distances.get(post) ?? 0;
  return [...chain.toSorted((one, other) => distanceOf(one) - distanceOf(other)), ...replies];
}

function describeLeftPosts({ posts, bound }: PostResult, kept: ReadonlySet<Post>): string {
  const left = posts.filter((post) => !kept.has(post));
  const replies = left.filter(({ context }) => context === 'reply').length;
  const ofThread = left.length - replies;
  const parts = [
    replies === 0 ? null : replies === 1 ? '1 reply' : `${replies} replies`,
    ofThread === 0 ? null : `${ofThread} ${ofThread === 1 ? 'post' : 'posts'} of the thread`,
  ];
  const were = left.length === 1 ? 'was' : 'were';
  return `\`max_chars=${bound?.maxChars}\` leaves room for ${kept.size} of the ${posts.length} posts; ${parts.filter(Boolean).join(' and ')} ${were} left out. The tool \`list_replies\` and ${bound?.repliesUrl} list all replies page by page.`;
}

/** Returns a post in which no text, even quoted, is longer than `max` UTF-16 code units. */
export const cutPost = (post: Post, max: number): Post => shortenPost(post, createCut(max));

function createCut(max: number): Shortening {
  const takeBlocks = (blocks: readonly ArticleBlock[]) => {
    let left = max;
    return blocks.filter((block) => {
      const isKept = left > 0;
      left -= 'text' in block ? block.text.length + 1 : JSON.stringify(block).length;
      return isKept;
    });
  };
  return { shortenText: (text) => shorten(text, max), takeBlocks };
}
