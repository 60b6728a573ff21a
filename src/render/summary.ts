import type { Post, Status } from '../model/post.ts';
import { describeChoices, describeMedia } from './html/labels.ts';
import { nameAccount } from './markdown/accounts.ts';
import { toLine } from './markdown/characters.ts';
import { titleCopy } from './markdown/copies.ts';

const maxTitle = 120;
const maxSummary = 300;
const maxFirstWords = 60;

/** Gives who wrote a post as plain text on one line, and the title of an article it carries. */
export function titlePost(post: Post | undefined): string {
  return cut(joinTitle(nameAuthor(post), articleTitleOf(post)), maxTitle);
}

/** Gives who wrote a post and how it begins as plain text on one line. */
export function headlinePost(post: Post | undefined): string {
  if (post?.type !== 'status' || articleTitleOf(post) !== '') return titlePost(post);
  const words = describeText(post) || summarizePost(post);
  return cut(joinTitle(nameAuthor(post), words), maxTitle);
}

/** Returns the title of the article that a post carries as plain text on one line; empty without one. */
export function articleTitleOf(post: Post | undefined): string {
  return post?.type === 'status' ? toLine(post.article?.title ?? '') : '';
}

/** A handle such as `@ada@reef.example.org`: in headings GitHub makes an e-mail address of it, however it is escaped. */
const foreignHost = /(@[\w-]+)@[\w.-]+/g;

/**
 * Returns the words that tell a post from others of its author, as plain text on one line: the title of its article, or
 * how its text begins, or what it has instead of a text.
 */
export function firstWordsOf(post: Post): string {
  if (post.type === 'tombstone') return '';
  const words = articleTitleOf(post) || describeText(post) || summarizePost(post);
  return cut(words.replace(foreignHost, '$1'), maxFirstWords);
}

/** Returns who wrote a post as plain text, and for a copy which server says so. */
export function nameAuthor(post: Post | undefined): string {
  const author = post?.author ?? null;
  if (post === undefined || author === null) return 'Unavailable post';
  return titleCopy(post, nameAccount(author));
}

function joinTitle(name: string, words: string): string {
  return words === '' ? name : `${name}: ${words}`;
}

/**
 * Gives what a post says as plain text on one line of at most 300 code points: its text, poll,
 * article and quote; its media where it has no words.
 */
export function summarizePost(post: Post | undefined): string {
  if (post === undefined) return '';
  if (post.type === 'tombstone') return cut(toLine(post.text), maxSummary);
  const words = [describeText(post), ...describePoll(post), ...describeArticle(post)];
  const said = [...words, ...describeQuote(post)].filter((part) => part !== '');
  const shown = said.length > 0 ? said : describeMedia(post.media.all);
  return cut(shown.join(' · '), maxSummary);
}

/** Whoever sees a preview has not chosen to read what a warning stands before. */
function describeText({ content_warning: warning, text }: Status): string {
  return warning === null ? toLine(text) : `Content warning: ${toLine(warning)}`;
}

function describePoll({ poll }: Status): readonly string[] {
  return poll === null ? [] : [`Poll: ${describeChoices(poll).join(' / ')}`];
}

function describeArticle({ article }: Status): readonly string[] {
  return article === null ? [] : [toLine(article.preview_text ?? '')];
}

function describeQuote({ quote }: Status): readonly string[] {
  if (quote === null) return [];
  if (quote.type === 'tombstone') return [toLine(quote.text)];
  const text = describeText(quote);
  const handle = `@${toLine(quote.author.screen_name)}`;
  const name = `quoting ${titleCopy(quote, handle)}`;
  return [text === '' ? name : `${name}: ${text}`];
}

/** Cuts a line to a number of code points, where it can at a space. */
function cut(line: string, max: number): string {
  // No more than is needed: a text can be long, and a code point has one or two units.
  const points = [...line.slice(0, (max + 1) * 2)];
  if (points.length <= max) return line;
  const head = points.slice(0, max - 1).join('');
  const space = head.lastIndexOf(' ');
  const words = space > head.length * 0.8 ? head.slice(0, space) : head;
  // A joiner or a mark at the end would act on the ellipsis.
  const shown = [...words];
  const last = shown.findLastIndex((point) => !/^[\s\p{Cf}]$/u.test(point));
  return `${shown.slice(0, last + 1).join('')}…`;
}
