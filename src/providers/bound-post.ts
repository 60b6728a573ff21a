import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type Media, type MediaSet, toMediaSet } from '../model/media.ts';
import type { Card, Community, Facet, Poll, Post, Status } from '../model/post.ts';
import { shorten } from '../platforms/cut.ts';
import type { List } from '../platforms/lenient.ts';
import { maximums, shownTexts, type TextMaximums } from '../platforms/maximums.ts';
import { countCodePoints } from '../platforms/text.ts';

/**
 * Returns a post whose lists and texts keep to the maximums, and names in `left_out` what is missing. A
 * post that keeps to them already is returned as it is.
 */
export function boundPost(
  post: Post,
  texts: TextMaximums = shownTexts,
  quotesLeft: number = maximums.quotes,
): Post {
  if (post.type === 'tombstone') {
    const author = post.author === null ? null : boundAccount(post.author, texts);
    return author === post.author ? post : { ...post, author };
  }
  const { author, reposted_by: reposter, quote } = post;
  const own = quotesLeft > 0 ? boundOwn(post, texts) : { ...boundOwn(post, texts), quote: null };
  return replace(replaceNamed(post, own), {
    author: boundAccount(author, texts),
    reposted_by: reposter === null ? null : boundAccount(reposter, texts),
    ...(quotesLeft > 0 && quote !== null && { quote: boundPost(quote, texts, quotesLeft - 1) }),
  });
}

/** Returns an account whose texts keep to the maximums, as `boundPost` does. */
export function boundAccount(account: Account, texts: TextMaximums = shownTexts): Account {
  const description = shortenOrNull(account.description, texts.description);
  const facets = atMost(account.description_facets ?? [], maximums.facets);
  const bounded = replaceNamed(account, {
    name: shorten(account.name, texts.name),
    description,
    location: shortenOrNull(account.location, texts.line),
  });
  if (account.description_facets === undefined) return bounded;
  const length = countCodePoints(description ?? '') - 1;
  const clipped = description === account.description ? facets : clipFacets(facets, length);
  return replace(bounded, { description_facets: clipped });
}

function boundOwn(post: Status, texts: TextMaximums): Partial<Status> {
  const text = shorten(post.text, texts.text);
  const facets = atMost(post.facets, maximums.facets);
  return {
    text,
    facets: text === post.text ? facets : clipFacets(facets, countCodePoints(text) - 1),
    content_warning: shortenOrNull(post.content_warning, texts.line),
    source: shortenOrNull(post.source, texts.name),
    media: boundMediaSet(post.media, texts),
    poll: post.poll === null ? null : boundPoll(post.poll, texts),
    article: post.article === null ? null : boundArticle(post.article, texts),
    card: post.card === null ? null : boundCard(post.card, texts),
    community_note: shortenOrNull(post.community_note, texts.note),
    ...(post.community && { community: boundCommunity(post.community, texts) }),
    ...(post.tags && { tags: atMost(post.tags, maximums.tags) }),
    ...(post.reactions && { reactions: atMost(post.reactions, maximums.reactions) }),
  };
}

/** A link that is cut is none, and a style ends where the text does. */
function clipFacets(facets: readonly Facet[], length: number): readonly Facet[] {
  return facets
    .filter(({ start, end, url }) => start < length && (url === undefined || end <= length))
    .map((facet) => (facet.end <= length ? facet : { ...facet, end: length }));
}

function boundMediaSet(media: MediaSet, texts: TextMaximums): MediaSet {
  const all = mapSame(atMost(media.all, maximums.media), (item) => boundItem(item, texts));
  return all === media.all ? media : toMediaSet(all);
}

function boundItem(item: Media, texts: TextMaximums): Media {
  const { variants } = item;
  return replace(item, {
    alt: shortenOrNull(item.alt, texts.note),
    ...(variants !== undefined && { variants: atMost(variants, maximums.variants) }),
  });
}

function boundPoll(poll: Poll, texts: TextMaximums): Poll {
  const choices = mapSame(atMost(poll.choices, maximums.choices), (choice) =>
    replace(choice, { label: shorten(choice.label, texts.line) }),
  );
  return replace(poll, { choices });
}

function boundArticle(article: Article, texts: TextMaximums): Article {
  const blocks = texts === shownTexts ? atMost(article.blocks, maximums.blocks) : [];
  return replace(article, {
    title: shorten(article.title, texts.line),
    preview_text: shortenOrNull(article.preview_text, texts.note),
    blocks: mapSame(blocks, (block) => boundBlock(block, texts)),
  });
}

function boundBlock(block: ArticleBlock, texts: TextMaximums): ArticleBlock {
  if (!('text' in block) || block.text.length <= texts.text) return block;
  const text = shorten(block.text, texts.text);
  if (!('styles' in block)) return { ...block, text };
  const length = countCodePoints(text) - 1;
  const styles = block.styles.filter(({ end }) => end <= length);
  return { ...block, text, styles };
}

function boundCard(card: Card, texts: TextMaximums): Card {
  return replace(card, {
    title: shorten(card.title, texts.line),
    description: shortenOrNull(card.description, texts.note),
    ...(card.image_alt && { image_alt: shorten(card.image_alt, texts.note) }),
    ...(card.provider_name && { provider_name: shorten(card.provider_name, texts.name) }),
    ...(card.author_name && { author_name: shorten(card.author_name, texts.name) }),
  });
}

function boundCommunity(community: Community, texts: TextMaximums): Community {
  return replace(community, {
    name: shorten(community.name, texts.name),
    description: shortenOrNull(community.description, texts.note),
  });
}

function shortenOrNull(text: string | null, max: number): string | null {
  return text === null ? null : shorten(text, max);
}

function atMost<Row>(list: readonly Row[], max: number): readonly Row[] {
  return list.length <= max ? list : list.slice(0, max);
}

/** Maps a list; returns the list itself where every member is the same as before. */
function mapSame<Row>(list: readonly Row[], map: (row: Row) => Row): readonly Row[] {
  const mapped = list.map(map);
  return mapped.every((row, at) => row === list[at]) ? list : mapped;
}

/** What names the members of which a part is missing. */
interface Lossy {
  readonly left_out?: readonly string[] | undefined;
}

/** Replaces parts of a value; returns the value itself where none of them differs. */
function replace<T extends object>(whole: T, parts: Partial<T>): T {
  return differing(whole, parts).length === 0 ? whole : { ...whole, ...parts };
}

/** Replaces parts as `replace` does, and names those that differ. */
function replaceNamed<T extends Lossy>(whole: T, parts: Partial<T>): T {
  const names = differing(whole, parts);
  // Facets that go with a text that is cut are no loss of their own.
  const lost = names.includes('text') ? names.filter((name) => name !== 'facets') : names;
  return lost.length === 0 ? whole : nameLeftOut({ ...whole, ...parts }, lost);
}

function differing<T extends object>(whole: T, parts: Partial<T>): readonly string[] {
  // The names of the parts of a T are names of its members.
  return Object.keys(parts).filter((name) => parts[name as keyof T] !== whole[name as keyof T]);
}

/** Returns the names under which lists are given of which some are not whole. */
export function findLeftOut(
  lists: Readonly<Record<string, readonly (List<unknown> | undefined)[]>>,
): readonly string[] {
  return Object.entries(lists)
    .filter(([, parts]) => parts.some((list) => list?.leftOut !== undefined))
    .map(([name]) => name);
}

/** Adds names to those of the members of which a part is missing. */
export function nameLeftOut<T extends Lossy>(whole: T, names: readonly string[]): T {
  if (names.length === 0) return whole;
  return { ...whole, left_out: [...new Set([...(whole.left_out ?? []), ...names])] };
}
