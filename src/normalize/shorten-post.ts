import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type MediaSet, toMediaSet } from '../model/media.ts';
import type { Facet, Post } from '../model/post.ts';
import { type Lossy, nameLeftOut } from './fields.ts';
import { maximums, type TextMaximums } from './maximums.ts';
import { countCodePoints } from './text.ts';

/** Rules by which texts and lists are shortened. */
export interface Shortening {
  /** Returns a text or its beginning with an ellipsis. */
  readonly shortenText: (text: string, kind: keyof TextMaximums) => string;
  /** Selects the blocks of an article that are kept. Default: the first. */
  readonly takeBlocks?: (blocks: readonly ArticleBlock[]) => readonly ArticleBlock[];
  /** Whether `left_out` names the members that are shortened; default `false`. */
  readonly namesLeftOut?: boolean;
}

/** Kind of a text, list with the form of its items, form of members, or a rule of its own. */
type Form = keyof TextMaximums | List | Members | ((value: never, rules: Shortening) => unknown);
type List = readonly [max: number, item?: Form];
type Members = { readonly [name: string]: Form };

const accountForm = {
  name: 'name',
  description: 'description',
  location: 'line',
  description_facets: [maximums.facets],
} as const satisfies Members;

const statusForm = {
  text: 'text',
  facets: [maximums.facets],
  content_warning: 'line',
  source: 'name',
  media: shortenMedia,
  poll: { choices: [maximums.choices, { label: 'line' }] },
  article: { title: 'line', preview_text: 'note', blocks: shortenBlocks },
  card: {
    title: 'line',
    description: 'note',
    image_alt: 'note',
    provider_name: 'name',
    author_name: 'name',
  },
  community_note: 'note',
  community_note_facets: [maximums.facets],
  earlier_versions: [-maximums.versions, { text: 'text' }],
  community: { name: 'name', description: 'note' },
  tags: [maximums.tags],
  reactions: [maximums.reactions],
} as const satisfies Members;

/** Lists of ranges of a text, with the member that is the text. */
const ranges: ReadonlyMap<string, string> = new Map([
  ['facets', 'text'],
  ['styles', 'text'],
  ['community_note_facets', 'community_note'],
  ['description_facets', 'description'],
]);

/** Shortens the lists and texts of a post, of its accounts, and of the posts that it quotes. */
export function shortenPost(
  post: Post,
  rules: Shortening,
  quotesLeft: number = maximums.quotes,
): Post {
  const author = post.author && shortenAccount(post.author, rules);
  if (post.type === 'tombstone') {
    return { ...post, text: rules.shortenText(post.text, 'text'), author };
  }
  const { reposted_by: reposter, quote } = post;
  const own = shortenNamed(post, statusForm, rules);
  const isQuoteLost = quote !== null && quotesLeft === 0;
  return {
    ...(isQuoteLost && rules.namesLeftOut ? nameLeftOut(own, ['quote']) : own),
    author: author ?? post.author,
    reposted_by: reposter && shortenAccount(reposter, rules),
    quote: quote && !isQuoteLost ? shortenPost(quote, rules, quotesLeft - 1) : null,
  };
}

/** Returns the same object if nothing is too long. */
export const shortenAccount = (account: Account, rules: Shortening): Account =>
  shortenNamed(account, accountForm, rules);

function shortenNamed<Whole extends Lossy>(whole: Whole, form: Members, rules: Shortening): Whole {
  const parts = shortenMembers(whole, form, rules);
  // Ranges that were removed together with the end of a text are not named.
  const names = Object.keys(parts).filter((name) => !((ranges.get(name) ?? '') in parts));
  return nameLeftOut(replaceIn(whole, parts), rules.namesLeftOut ? names : []);
}

function shortenMedia(media: MediaSet, rules: Shortening): MediaSet {
  const item = { alt: 'note', variants: [maximums.variants] } as const;
  const all = shortenList(media.all, [maximums.media, item], rules);
  return all === media.all ? media : toMediaSet(all);
}

function shortenBlocks(blocks: Article['blocks'], rules: Shortening): Article['blocks'] {
  const taken = rules.takeBlocks?.(blocks) ?? blocks;
  const kept = taken.length === blocks.length ? blocks : taken;
  return shortenList(kept, [maximums.blocks, { text: 'text', styles: [maximums.facets] }], rules);
}

/** Returns the same value if nothing is too long. */
function shortenValue(value: unknown, form: Form, rules: Shortening): unknown {
  // A form has the type of the member that it names, which the compiler cannot follow.
  if (typeof form === 'function') return form(value as never, rules);
  if (value === undefined || value === null) return value;
  if (typeof form === 'string') return rules.shortenText(value as string, form);
  if (Array.isArray(value)) return shortenList(value, form as List, rules);
  return replaceIn(value, shortenMembers(value, form as Members, rules));
}

const replaceIn = <Whole extends object>(whole: Whole, parts: Partial<Whole>): Whole =>
  Object.keys(parts).length === 0 ? whole : { ...whole, ...parts };

function shortenList<Item>(list: readonly Item[], [max, form]: List, rules: Shortening) {
  const kept = list.length <= Math.abs(max) ? list : list.slice(...(max < 0 ? [max] : [0, max]));
  if (form === undefined) return kept;
  const items = kept.map((item) => shortenValue(item, form, rules) as Item);
  return items.every((item, at) => item === kept[at]) ? kept : items;
}

/** Returns the members that change. */
function shortenMembers<Whole extends object>(whole: Whole, form: Members, rules: Shortening) {
  const parts: Record<string, unknown> = {};
  for (const name in form) {
    const value = whole[name as keyof Whole];
    const short = shortenValue(value, form[name] ?? keep, rules);
    if (short !== value) parts[name] = short;
  }
  for (const [name, of] of ranges) {
    const list = parts[name] ?? whole[name as keyof Whole];
    if (of in parts && Array.isArray(list)) parts[name] = cutRanges(list, String(parts[of]));
  }
  return parts as Partial<Whole>; // of the types of the members that they replace
}

const keep = (value: unknown) => value;

type TextRange = Pick<Facet, 'start' | 'end' | 'url'>;

/** Keeps links that are whole before the ellipsis of a text, and styles up to it. */
function cutRanges(list: readonly TextRange[], text: string): readonly TextRange[] {
  const length = countCodePoints(text) - 1;
  return list
    .filter(({ start, end, url }) => start < length && (url === undefined || end <= length))
    .map((range) => ({ ...range, end: Math.min(range.end, length) }));
}
