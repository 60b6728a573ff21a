import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type Media, type MediaSet, toMediaSet } from '../model/media.ts';
import type { Card, Facet, Poll, Post, Status } from '../model/post.ts';
import type { List } from '../platforms/lenient.ts';
import { maximums, shownTexts, type TextMaximums } from '../platforms/maximums.ts';
import { countCodePoints, shorten } from '../platforms/text.ts';

/** Returns a post whose lists and texts keep to the maximums. `left_out` names what is cut. */
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

/** Returns an account whose texts keep to the maximums, as `boundPost` does. */
export function boundAccount(account: Account, texts: TextMaximums = shownTexts): Account {
  const description = shortenOrNull(account.description, texts.description);
  const bounded = replaceNamed(account, {
    name: shorten(account.name, texts.name),
    description,
    location: shortenOrNull(account.location, texts.line),
  });
  const facets = account.description_facets ?? [];
  const isCut = description !== account.description;
  // An account that is not cut stays the same object: the warnings count each account once.
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
    community_note: shortenOrNull(post.community_note, texts.note),
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

/** In a text that was `cut`, a link that is cut is none, and a style ends where the text does. */
function boundFacets(facets: readonly Facet[], cut: string | null): readonly Facet[] {
  const kept = facets.slice(0, maximums.facets);
  if (cut === null) return kept;
  const length = countCodePoints(cut) - 1;
  return kept
    .filter(({ start, end, url }) => start < length && (url === undefined || end <= length))
    .map((facet) => ({ ...facet, end: Math.min(facet.end, length) }));
}

function boundMediaSet(media: MediaSet, texts: TextMaximums): MediaSet {
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

function shortenOrNull(text: string | null, max: number): string | null {
  return text === null ? null : shorten(text, max);
}

interface Lossy {
  readonly left_out?: readonly string[] | undefined;
}

/** Replaces members of a value, and names those that differ in `left_out`. */
function replaceNamed<T extends Lossy>(whole: T, parts: Partial<T>): T {
  const before = new Map<string, unknown>(Object.entries(whole));
  const changed = Object.entries(parts).flatMap(([name, part]) =>
    isDeepStrictEqual(part, before.get(name)) ? [] : [name],
  );
  // Facets that go with a text that is cut are no loss of their own.
  const lost = changed.includes('text') ? changed.filter((name) => name !== 'facets') : changed;
  return lost.length === 0 ? whole : nameLeftOut({ ...whole, ...parts }, lost);
}

/** Returns the names of those lists that were not read to their end. */
export function findLeftOut(
  lists: Readonly<Record<string, readonly (List<unknown> | undefined)[]>>,
): readonly string[] {
  return Object.entries(lists)
    .filter(([, parts]) => parts.some((list) => list?.leftOut !== undefined))
    .map(([name]) => name);
}

export function nameLeftOut<T extends Lossy>(whole: T, names: readonly string[]): T {
  if (names.length === 0) return whole;
  return { ...whole, left_out: [...new Set([...(whole.left_out ?? []), ...names])] };
}
