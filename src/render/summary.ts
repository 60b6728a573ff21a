import type { Poll, Post, Status } from '../model/post.ts';
import { describeMedia } from './blocks/block.ts';
import { copyPrefix, nameAccount } from './markdown/blocks.ts';
import { toLine } from './markdown/characters.ts';

const maxTitle = 120;
const maxSummary = 300;
const maxFirstWords = 60;

/** Returns author and article title (if any) as plain text on one line. */
export const titlePost = (post: Post | undefined): string =>
  cut(joinTitle(nameAuthor(post), articleTitleOf(post)), maxTitle);

/** Returns author and article title or first words as plain text on one line. */
export function headlinePost(post: Post | undefined): string {
  if (post?.type !== 'status' || articleTitleOf(post) !== '') return titlePost(post);
  return cut(joinTitle(nameAuthor(post), describeText(post) || summarizePost(post)), maxTitle);
}

export const articleTitleOf = (post: Post | undefined): string =>
  post?.type === 'status' ? toLine(post.article?.title ?? '') : '';

const foreignHost = /(@[\w-]+)@[\w.-]+/g;

/** Returns one line from article title, text or summary, with up to `max` code points. */
export function firstWordsOf(post: Post, max = maxFirstWords): string {
  if (post.type === 'tombstone') return '';
  const words = articleTitleOf(post) || describeText(post) || summarizePost(post);
  return cut(words.replace(foreignHost, '$1'), max);
}

/** Returns the author as plain text; for a copied post, after `Copy from host: `. */
export function nameAuthor(post: Post | undefined): string {
  const author = post?.author ?? null;
  if (post === undefined || author === null) return 'Unavailable post';
  return `${copyPrefix(post)}${nameAccount(author)}`;
}

const joinTitle = (name: string, words: string) => (words === '' ? name : `${name}: ${words}`);

/** Summarizes a post in up to 300 code points; describes the media if there is nothing else. */
export function summarizePost(post: Post | undefined): string {
  if (post === undefined) return '';
  if (post.type === 'tombstone') return cut(toLine(post.text), maxSummary);
  const { poll, article, quote } = post;
  const words = [
    describeText(post),
    poll === null ? '' : `Poll: ${describeChoices(poll).join(' / ')}`,
    toLine(article?.preview_text ?? ''),
    quote === null ? '' : describeQuote(quote),
  ].filter((part) => part !== '');
  const shown = words.length > 0 ? words : describeMedia(post.media.all);
  return cut(shown.join(' · '), maxSummary);
}

const describeText = ({ content_warning: warning, text }: Status): string =>
  warning === null ? toLine(text) : `Content warning: ${toLine(warning)}`;

function describeQuote(quote: Post): string {
  if (quote.type === 'tombstone') return toLine(quote.text);
  const name = `quoting ${copyPrefix(quote)}@${toLine(quote.author.screen_name)}`;
  return joinTitle(name, describeText(quote));
}

function describeChoices({ choices }: Poll): readonly string[] {
  return choices.map(({ label, percentage }) => {
    const share = percentage === null ? '' : ` (${percentage.toFixed(1)}%)`;
    return `${toLine(label)}${share}`;
  });
}

/** Returns the hashtags of the text and the post's tags, once each; drops those for which `toTag` returns ''. */
export function listTags(
  { text, facets, tags = [] }: Status,
  toTag: (written: string) => string,
  maxPoints = Number.POSITIVE_INFINITY,
): readonly string[] {
  const hashtags = facets.filter(({ type }) => type === 'hashtag');
  const points = hashtags.length === 0 ? [] : [...text];
  const inText = hashtags.map(({ start, end }) =>
    points.slice(start, Math.min(end, start + maxPoints)).join(''),
  );
  const found = new Map<string, string>();
  for (const tag of [...inText, ...tags].map(toTag)) {
    const key = tag.toLowerCase();
    if (tag !== '' && !found.has(key)) found.set(key, tag);
  }
  return [...found.values()];
}

function cut(line: string, max: number): string {
  // Splits only as much as needed, because texts can be long. A code point has one or two UTF-16
  // units.
  const points = [...line.slice(0, (max + 1) * 2)];
  if (points.length <= max) return line;
  const head = points.slice(0, max - 1).join('');
  const space = head.lastIndexOf(' ');
  const words = space > head.length * 0.8 ? head.slice(0, space) : head;
  // A joiner or a direction mark at the end would affect the ellipsis.
  const shown = [...words];
  const last = shown.findLastIndex((point) => !/^[\s\p{Cf}]$/u.test(point));
  return `${shown.slice(0, last + 1).join('')}…`;
}
