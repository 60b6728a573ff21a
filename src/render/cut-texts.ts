import type { Account } from '../model/account.ts';
import type { Article, ArticleBlock } from '../model/article.ts';
import { type Media, toMediaSet } from '../model/media.ts';
import type { Card, Post, Status } from '../model/post.ts';

/** Shortens a text to `max` UTF-16 code units and `…`. Never splits a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? max - 1 : max)}…`;
}

/** Returns a post in which no text, even quoted, is longer than `max` UTF-16 code units. */
export function cutPost(post: Post, max: number): Post {
  const cut = createCut(max);
  if (post.type === 'tombstone') return { ...post, text: cutText(post.text, max) };
  const { text, start: facets } = cut.annotated(post.text, post.facets);
  return {
    ...post,
    text,
    facets,
    author: cutAccount(post.author, max),
    reposted_by: post.reposted_by && cutAccount(post.reposted_by, max),
    content_warning: cut.nullable(post.content_warning),
    ...cutNote(post, cut),
    ...(post.earlier_versions && {
      earlier_versions: post.earlier_versions.map((version) => ({
        ...version,
        text: cutText(version.text, max),
      })),
    }),
    media: toMediaSet(
      post.media.all.map((item): Media => ({ ...item, alt: cut.nullable(item.alt) })),
    ),
    poll: post.poll && cutPoll(post.poll, max),
    card: post.card && cutCard(post.card, max),
    article: post.article && cutArticle(post.article, max),
    quote: post.quote && cutPost(post.quote, max),
  };
}

function cutNote(post: Status, cut: ReturnType<typeof createCut>) {
  const { community_note: note, community_note_facets: facets } = post;
  if (note === null || facets === undefined) return { community_note: cut.nullable(note) };
  const { text, start } = cut.annotated(note, facets);
  return { community_note: text, community_note_facets: start };
}

/** Returns an account whose biography has up to `max` UTF-16 code units. */
export function cutAccount(account: Account, max: number): Account {
  const { description, description_facets: facets } = account;
  if (description === null || description.length <= max) return account;
  const cut = createCut(max).annotated(description, facets ?? []);
  return { ...account, description: cut.text, ...(facets && { description_facets: cut.start }) };
}

interface Range {
  readonly end: number;
}

function createCut(max: number) {
  return {
    nullable: (text: string | null) => text && cutText(text, max),
    /** Shortens a text, and drops annotations beyond its end. Offsets count code points. */
    annotated: <One extends Range>(text: string, ranges: readonly One[]) => {
      if (text.length <= max) return { text, start: ranges };
      const short = cutText(text, max);
      const end = [...short].length - 1; // without the ellipsis
      return { text: short, start: ranges.filter((range) => range.end <= end) };
    },
  };
}

function cutPoll(poll: NonNullable<Status['poll']>, max: number): Status['poll'] {
  const choices = poll.choices.map((choice) => ({ ...choice, label: cutText(choice.label, max) }));
  return { ...poll, choices };
}

function cutCard(card: Card, max: number): Card {
  const { description, image_alt: alt } = card;
  return {
    ...card,
    title: cutText(card.title, max),
    description: description && cutText(description, max),
    ...(alt !== undefined && { image_alt: cutText(alt, max) }),
  };
}

function cutArticle(article: Article, max: number): Article {
  const blocks: ArticleBlock[] = [];
  let left = max;
  for (const block of article.blocks) {
    if (left <= 0) break;
    blocks.push(cutBlock(block, left));
    left -= lengthOf(block);
  }
  const { title, preview_text: preview } = article;
  return {
    ...article,
    title: cutText(title, max),
    preview_text: preview && cutText(preview, max),
    blocks,
  };
}

const lengthOf = (block: ArticleBlock): number =>
  'text' in block ? block.text.length + 1 : JSON.stringify(block).length;

function cutBlock(block: ArticleBlock, max: number): ArticleBlock {
  if (!('text' in block)) return block;
  if (!('styles' in block)) return { ...block, text: cutText(block.text, max) };
  const { text, start: styles } = createCut(max).annotated(block.text, block.styles);
  return { ...block, text, styles };
}
