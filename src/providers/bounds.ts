import { isDeepStrictEqual } from 'node:util';
import { mapWithPauses } from '../lib/scheduling/map-with-pauses.ts';
import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type Media, type MediaSet, toMediaSet } from '../model/media.ts';
import type { Card, Facet, Poll, Post, Status } from '../model/post.ts';
import type { Answers, Page, PostFound, ProfileFound, Query, QueryKind } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import { type Lossy, nameLeftOut } from '../normalize/fields.ts';
import {
  lineWeight,
  maxAnswerText,
  maximums,
  shortTexts,
  shownTexts,
  type TextMaximums,
} from '../normalize/maximums.ts';
import { countCodePoints, shorten } from '../normalize/text.ts';
import { type Ask, type Provider, platformOf, readNames } from './provider.ts';
import { describeExcess } from './rows.ts';

/** Wraps a provider. Shortens overlong posts and accounts, and adds warnings about this. */
export function withBounds(provider: Provider): Provider {
  // TypeScript types the keys as `string`, but all of them are kinds of query.
  const kinds = Object.keys(provider.ask) as QueryKind[];
  const bounded = kinds.map((kind) => [kind, boundAsk(provider, kind)] as const);
  return { ...provider, ask: Object.fromEntries(bounded) };
}

/** Creates a provider for one platform's servers. Shortens overlong posts and accounts. */
export function createLiveProvider(name: string, platform: Platform, ask: Provider['ask']) {
  const covers = (query: Query) => platformOf(query) === platform;
  return withBounds({ name, platforms: [platform], reads: new Set(readNames), covers, ask });
}

type Bound<Kind extends QueryKind> = (
  found: Answers[Kind]['found'],
) => Answers[Kind]['found'] | Promise<Answers[Kind]['found']>;

const bounds: { readonly [Kind in QueryKind]: Bound<Kind> } = {
  post: boundPostFound,
  profile: boundProfile,
  timeline: boundPosts,
  replies: boundPosts,
  followers: boundAccounts,
  following: boundAccounts,
  search: boundPosts,
  searchUsers: boundAccounts,
};

function boundAsk<Kind extends QueryKind>(provider: Provider, kind: Kind): Ask<Kind> | undefined {
  const ask: Ask<Kind> | undefined = provider.ask[kind];
  const bound: Bound<Kind> = bounds[kind];
  return ask && (async (query, context) => bound(await ask(query, context)));
}

async function boundPostFound(found: PostFound): Promise<PostFound> {
  const { rows: max } = maximums;
  const before = found.ancestors.slice(-max);
  const after = found.continuation.slice(0, max);
  const shown = [found.post, ...before, ...after, ...found.replies.slice(0, max)];
  const [post = found.post, ...others] = await boundAll(shown);
  const ancestors = others.slice(0, before.length);
  const below = others.slice(before.length);
  const { length } = [...found.ancestors, ...found.continuation, ...found.replies];
  const warnings = [
    ...found.warnings,
    ...describeExcess(length - others.length, 'post'),
    ...describeLeftOut([...ancestors, post, ...below], []),
  ];
  const [continuation, replies] = [below.slice(0, after.length), below.slice(after.length)];
  return { ...found, ancestors, post, continuation, replies, warnings };
}

async function boundPosts(page: Page<Post>): Promise<Page<Post>> {
  const items = await boundAll(page.items);
  return { ...page, items, warnings: [...page.warnings, ...describeLeftOut(items, [])] };
}

function boundAccounts(page: Page<Account>): Page<Account> {
  const items = page.items.map((account) => boundAccount(account));
  return { ...page, items, warnings: [...page.warnings, ...describeLeftOut([], items)] };
}

function boundProfile(found: ProfileFound) {
  const account = boundAccount(found.account);
  return { ...found, account, warnings: [...found.warnings, ...describeLeftOut([], [account])] };
}

/** Bounds the posts of an answer. Those beyond the total length of its texts become very short. */
function boundAll(posts: readonly Post[]): Promise<readonly Post[]> {
  let used = 0;
  return mapWithPauses(posts, (post) => {
    const bounded = boundPost(post);
    const length = countText(bounded);
    if (used + length > maxAnswerText) return boundPost(bounded, shortTexts);
    used += length;
    return bounded;
  });
}

function countText(post: Post): number {
  if (post.type === 'tombstone') return weighText(post.text);
  const { article, card, poll, quote } = post;
  const texts = [
    post.text,
    post.content_warning,
    post.community_note,
    ...(post.earlier_versions ?? []).map(({ text }) => text),
    ...(poll?.choices.map(({ label }) => label) ?? []),
    ...(article?.blocks.map((block) => ('text' in block ? block.text : '')) ?? []),
    article?.preview_text,
    card?.description,
  ];
  for (const { name, description, location } of accountsOf(post)) {
    texts.push(name, description, location);
  }
  for (const { alt } of post.media.all) texts.push(alt);
  let weight = quote === null ? 0 : countText(quote);
  for (const text of texts) weight += weighText(text);
  return weight;
}

const weighText = (text: string | null | undefined): number =>
  text ? text.length + (text.split('\n').length - 1) * lineWeight : 0;

const nouns: Readonly<Record<string, string>> = {
  content_warning: 'content warning',
  community_note: 'community note',
  source: 'name of the client',
  card: 'link preview',
  embed: 'attachment',
  facets: 'links and styles',
  tags: 'hashtags',
  quote: 'quotes within quotes',
};

function describeLeftOut(posts: readonly Post[], accounts: readonly Account[]): readonly string[] {
  const all = posts.flatMap(withQuotes);
  const authors = new Set(all.flatMap(accountsOf));
  return [...describeGaps(all, 'post'), ...describeGaps([...authors, ...accounts], 'account')];
}

const withQuotes = (post: Post): readonly Post[] =>
  post.type === 'status' && post.quote !== null ? [post, ...withQuotes(post.quote)] : [post];

function accountsOf(post: Post): readonly Account[] {
  const reposter = post.type === 'status' ? post.reposted_by : null;
  if (reposter !== null) return post.author === null ? [reposter] : [post.author, reposter];
  return post.author === null ? [] : [post.author];
}

function describeGaps(rows: readonly (Post | Account)[], noun: 'post' | 'account') {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const names = 'left_out' in row ? (row.left_out ?? []) : [];
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => {
    const rows = count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
    return `In ${rows}, part of the ${nouns[name] ?? name} is missing, because the source sent too much data or unreadable data.`;
  });
}

/** Shortens the lists and texts of a post. Adds the names of shortened members to `left_out`. */
export function boundPost(
  post: Post,
  texts: TextMaximums = shownTexts,
  quotesLeft: number = maximums.quotes,
): Post {
  if (post.type === 'tombstone') {
    return { ...post, author: post.author && boundAccount(post.author, texts) };
  }
  const { author, reposted_by: reposter, quote } = post;
  const own = quotesLeft > 0 ? boundOwn(post, texts) : { ...boundOwn(post, texts), quote: null };
  return {
    ...replaceNamed(post, own),
    author: boundAccount(author, texts),
    reposted_by: reposter && boundAccount(reposter, texts),
    quote: quotesLeft > 0 && quote !== null ? boundPost(quote, texts, quotesLeft - 1) : null,
  };
}

/** Shortens the texts of an account. Adds the names of shortened members to `left_out`. */
export function boundAccount(account: Account, texts: TextMaximums = shownTexts): Account {
  const description = shortenOrNull(account.description, texts.description);
  const bounded = replaceNamed(account, {
    name: shorten(account.name, texts.name),
    description,
    location: shortenOrNull(account.location, texts.line),
  });
  const facets = account.description_facets ?? [];
  const isCut = description !== account.description;
  // An account without cuts stays the same object, because the warnings count distinct objects.
  if (facets.length === 0 || (facets.length <= maximums.facets && !isCut)) return bounded;
  return { ...bounded, description_facets: boundFacets(facets, isCut ? description : null) };
}

function boundOwn(post: Status, texts: TextMaximums): Partial<Status> {
  const text = shorten(post.text, texts.text);
  const { community } = post;
  return {
    text,
    facets: boundFacets(post.facets, text === post.text ? null : text),
    content_warning: shortenOrNull(post.content_warning, texts.line),
    source: shortenOrNull(post.source, texts.name),
    media: boundMediaSet(post.media, texts),
    poll: post.poll && boundPoll(post.poll, texts),
    article: post.article && boundArticle(post.article, texts),
    card: post.card && boundCard(post.card, texts),
    ...boundNote(post, texts),
    ...(post.earlier_versions && {
      earlier_versions: post.earlier_versions
        .slice(-maximums.versions)
        .map((version) => ({ ...version, text: shorten(version.text, texts.text) })),
    }),
    ...(community && {
      community: {
        ...community,
        name: shorten(community.name, texts.name),
        description: shortenOrNull(community.description, texts.note),
      },
    }),
    ...(post.tags && { tags: post.tags.slice(0, maximums.tags) }),
    ...(post.reactions && { reactions: post.reactions.slice(0, maximums.reactions) }),
  };
}

function boundNote(
  { community_note: note, community_note_facets: facets }: Status,
  texts: TextMaximums,
) {
  const community_note = shortenOrNull(note, texts.note);
  if (facets === undefined) return { community_note };
  const cut = community_note === note ? null : community_note;
  return { community_note, community_note_facets: boundFacets(facets, cut) };
}

function boundFacets(facets: readonly Facet[], cut: string | null): readonly Facet[] {
  const kept = facets.length > maximums.facets ? facets.slice(0, maximums.facets) : facets;
  if (cut === null) return kept;
  const length = countCodePoints(cut) - 1;
  return kept
    .filter(({ start, end, url }) => start < length && (url === undefined || end <= length))
    .map((facet) => ({ ...facet, end: Math.min(facet.end, length) }));
}

function boundMediaSet(media: MediaSet, texts: TextMaximums): MediaSet {
  if (media.all.length === 0) return media;
  const all = media.all.slice(0, maximums.media).map(
    (item): Media => ({
      ...item,
      alt: shortenOrNull(item.alt, texts.note),
      ...(item.variants && { variants: item.variants.slice(0, maximums.variants) }),
    }),
  );
  return isDeepStrictEqual(all, media.all) ? media : toMediaSet(all);
}

function boundPoll(poll: Poll, texts: TextMaximums): Poll {
  const choices = poll.choices
    .slice(0, maximums.choices)
    .map((choice) => ({ ...choice, label: shorten(choice.label, texts.line) }));
  return { ...poll, choices };
}

function boundArticle(article: Article, texts: TextMaximums): Article {
  const blocks = texts === shownTexts ? article.blocks.slice(0, maximums.blocks) : [];
  return {
    ...article,
    title: shorten(article.title, texts.line),
    preview_text: shortenOrNull(article.preview_text, texts.note),
    blocks: blocks.map((block) => boundBlock(block, texts)),
  };
}

function boundBlock(block: ArticleBlock, texts: TextMaximums): ArticleBlock {
  if (!('text' in block) || block.text.length <= texts.text) return block;
  const text = shorten(block.text, texts.text);
  if (!('styles' in block)) return { ...block, text };
  const length = countCodePoints(text) - 1;
  return { ...block, text, styles: block.styles.filter(({ end }) => end <= length) };
}

function boundCard(card: Card, texts: TextMaximums): Card {
  return {
    ...card,
    title: shorten(card.title, texts.line),
    description: shortenOrNull(card.description, texts.note),
    ...(card.image_alt && { image_alt: shorten(card.image_alt, texts.note) }),
    ...(card.provider_name && { provider_name: shorten(card.provider_name, texts.name) }),
    ...(card.author_name && { author_name: shorten(card.author_name, texts.name) }),
  };
}

const shortenOrNull = (text: string | null, max: number): string | null =>
  text === null ? null : shorten(text, max);

function replaceNamed<T extends Lossy>(whole: T, parts: Partial<T>): T {
  const changed: string[] = [];
  for (const name in parts) if (!isDeepStrictEqual(parts[name], whole[name])) changed.push(name);
  // Facets that were removed together with the end of a text are not named.
  const lost = changed.includes('text') ? changed.filter((name) => name !== 'facets') : changed;
  return lost.length === 0 ? whole : nameLeftOut({ ...whole, ...parts }, lost);
}
