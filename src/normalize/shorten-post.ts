import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type Media, type MediaSet, toMediaSet } from '../model/media.ts';
import type { Card, Facet, Poll, Post, Status } from '../model/post.ts';
import type { Lossy } from './fields.ts';
import { maximums, type TextMaximums } from './maximums.ts';
import { countCodePoints, shorten } from './text.ts';

/** Rules by which texts and lists are shortened. */
export interface Shortening {
  readonly texts: TextMaximums;
  /** Returns `whole` with the shortened members in `parts`, of which some may be unchanged. */
  readonly replace: <Whole extends Lossy>(whole: Whole, parts: Partial<Whole>) => Whole;
  /** Selects the blocks of an article that are kept. */
  readonly takeBlocks: (blocks: readonly ArticleBlock[]) => readonly ArticleBlock[];
}

/** Shortens the lists and texts of a post, of its accounts, and of the posts that it quotes. */
export function shortenPost(
  post: Post,
  rules: Shortening,
  quotesLeft: number = maximums.quotes,
): Post {
  if (post.type === 'tombstone') {
    const text = shorten(post.text, rules.texts.text);
    return { ...post, text, author: post.author && shortenAccount(post.author, rules) };
  }
  const { author, reposted_by: reposter, quote } = post;
  const own = shortenOwn(post, rules);
  return {
    ...rules.replace(post, quotesLeft > 0 ? own : { ...own, quote: null }),
    author: shortenAccount(author, rules),
    reposted_by: reposter && shortenAccount(reposter, rules),
    quote: quotesLeft > 0 && quote !== null ? shortenPost(quote, rules, quotesLeft - 1) : null,
  };
}

export function shortenAccount(account: Account, { texts, replace }: Shortening): Account {
  const description = shortenOrNull(account.description, texts.description);
  const bounded = replace(account, {
    name: shorten(account.name, texts.name),
    description,
    location: shortenOrNull(account.location, texts.line),
  });
  const facets = account.description_facets ?? [];
  const isCut = description !== account.description;
  // An account without cuts stays the same object, because the warnings count distinct objects.
  if (facets.length === 0 || (facets.length <= maximums.facets && !isCut)) return bounded;
  return { ...bounded, description_facets: cutFacets(facets, isCut ? description : null) };
}

function shortenOwn(post: Status, rules: Shortening): Partial<Status> {
  const { texts } = rules;
  const text = shorten(post.text, texts.text);
  const { community } = post;
  return {
    text,
    facets: cutFacets(post.facets, text === post.text ? null : text),
    content_warning: shortenOrNull(post.content_warning, texts.line),
    source: shortenOrNull(post.source, texts.name),
    media: shortenMedia(post.media, texts),
    poll: post.poll && shortenPoll(post.poll, texts),
    article: post.article && shortenArticle(post.article, rules),
    card: post.card && shortenCard(post.card, texts),
    ...shortenNote(post, texts),
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

function shortenNote(
  { community_note: note, community_note_facets: facets }: Status,
  texts: TextMaximums,
) {
  const community_note = shortenOrNull(note, texts.note);
  if (facets === undefined) return { community_note };
  const cut = community_note === note ? null : community_note;
  return { community_note, community_note_facets: cutFacets(facets, cut) };
}

function cutFacets(facets: readonly Facet[], cut: string | null): readonly Facet[] {
  const kept = facets.length > maximums.facets ? facets.slice(0, maximums.facets) : facets;
  if (cut === null) return kept;
  const length = countCodePoints(cut) - 1;
  return kept
    .filter(({ start, end, url }) => start < length && (url === undefined || end <= length))
    .map((facet) => ({ ...facet, end: Math.min(facet.end, length) }));
}

function shortenMedia(media: MediaSet, texts: TextMaximums): MediaSet {
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

function shortenPoll(poll: Poll, texts: TextMaximums): Poll {
  const choices = poll.choices
    .slice(0, maximums.choices)
    .map((choice) => ({ ...choice, label: shorten(choice.label, texts.line) }));
  return { ...poll, choices };
}

function shortenArticle(article: Article, { texts, takeBlocks }: Shortening): Article {
  return {
    ...article,
    title: shorten(article.title, texts.line),
    preview_text: shortenOrNull(article.preview_text, texts.note),
    blocks: takeBlocks(article.blocks).map((block) => shortenBlock(block, texts)),
  };
}

function shortenBlock(block: ArticleBlock, texts: TextMaximums): ArticleBlock {
  if (!('text' in block) || block.text.length <= texts.text) return block;
  const text = shorten(block.text, texts.text);
  if (!('styles' in block)) return { ...block, text };
  const length = countCodePoints(text) - 1;
  return { ...block, text, styles: block.styles.filter(({ end }) => end <= length) };
}

function shortenCard(card: Card, texts: TextMaximums): Card {
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
