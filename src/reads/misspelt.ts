import { nearestName } from '../lib/suggest.ts';

const maxNames = 50;

const maxWarnings = 5;

const comparedName = /^[\w-]{1,32}$/;

/** Returns the parameter that `name` probably misspells; `undefined` if none is similar. */
export const findCorrection = (name: string, known: readonly string[]): string | undefined =>
  comparedName.test(name) ? nearestName(name, known) : undefined;

const takers: Readonly<Record<string, string>> = {
  ...{ url: 'posts and embeds', id: 'posts and replies' },
  handle: 'posts, replies, profiles and their lists',
  ...{ thread: 'posts', context: 'posts', userinfo: 'posts', replies: 'posts and replies' },
  ...{ with_replies: 'profiles and histories', with_reposts: 'profiles and histories' },
  ...{ only_media: 'profiles', include_posts: 'profiles' },
  ...{ q: 'searches', feed: 'searches', platform: 'searches', require_live: 'searches' },
  ...{ since: 'searches and histories', until: 'profiles, searches and histories' },
  ...{ limit: 'lists and searches', cursor: 'lists and searches', page: 'lists and searches' },
  ...{ max_posts: 'histories', only_replies: 'histories', index: 'histories' },
  ...{ maxwidth: 'embeds', maxheight: 'embeds' },
  full: 'posts, profiles, lists and searches',
  max_chars: 'posts, replies, profiles, lists and searches',
};

const repliesOfPost = '`/api/v1/posts/{id}/replies` lists the replies to a post page by page';
const history =
  '`/api/v1/profiles/{handle}/posts` returns the posts of an account in a range of time';

const instead: readonly Readonly<{ name: string; of: string; advice: string }>[] = [
  {
    name: 'limit',
    of: 'thread',
    advice: `\`thread\` limits the posts of the thread; ${repliesOfPost}`,
  },
  { name: 'cursor', of: 'thread', advice: repliesOfPost },
  { name: 'page', of: 'thread', advice: repliesOfPost },
  { name: 'limit', of: 'max_posts', advice: 'use `max_posts`' },
  { name: 'cursor', of: 'max_posts', advice: 'use `until`' },
  { name: 'page', of: 'max_posts', advice: 'use `until`' },
  { name: 'max_posts', of: 'limit', advice: 'use `limit`' },
  { name: 'since', of: 'include_posts', advice: history },
  { name: 'replies', of: 'with_replies', advice: 'use `with_replies`' },
  { name: 'handle', of: 'q', advice: 'write `from:` and the handle in `q`' },
];

/** Returns whether a name that is not in `known` is the name of a parameter of another read. */
export const isOfOtherRead = (name: string): boolean => Object.hasOwn(takers, name);

function warnAboutOtherRead(name: string, known: readonly string[]): string {
  const found = instead.find((one) => one.name === name && known.includes(one.of));
  const advice = found?.advice ?? `it applies to ${takers[name]}`;
  return `The parameter \`${name}\` does not apply here and was ignored; ${advice}.`;
}

/** Returns a warning for each parameter that is probably misspelt or of other reads. */
export function warnAboutMisspelt(
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): readonly string[] {
  const ignored = Object.keys(given).filter(
    (name) => !known.includes(name) && given[name] !== undefined,
  );
  const warnings = ignored.slice(0, maxNames).flatMap((name) => {
    if (isOfOtherRead(name)) return [warnAboutOtherRead(name, known)];
    const correction = findCorrection(name, known);
    if (correction === undefined) return [];
    return `The parameter \`${name}\` does not exist and was ignored; did you mean \`${correction}\`?`;
  });
  return warnings.slice(0, maxWarnings);
}
