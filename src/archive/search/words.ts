import type { Article } from '../../model/article.ts';
import type { Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';

/** Symbols, and letters of Korean and of scripts without spaces. */
const singleCharacterWords = [
  ...['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'].map(
    (script) => String.raw`\p{Script_Extensions=${script}}`,
  ),
  String.raw`\p{So}`,
].join('');
const wordCharacter = String.raw`[\p{L}\p{N}\p{M}\p{So}\p{Co}]`;
const word = new RegExp(
  String.raw`(?=${wordCharacter})[${singleCharacterWords}]\p{M}*|(?:(?![${singleCharacterWords}])${wordCharacter})+`,
  'gu',
);

const ignoredMarks =
  /(?![\u3099\u309a])(?=\p{M})[\p{Me}\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]|\u0640/gu;

const isAscii = /^[ -~\s]*$/;
const asciiWord = /[A-Za-z0-9]+/g;

/**
 * Returns the words of a text for the index and for queries. Words cannot be parsed as FTS5 syntax.
 * Korean and scripts without spaces are split into characters, so that parts of words match.
 */
export function toWords(text: string): readonly string[] {
  // Fast path: for ASCII text, which is most text on the web, the rules below return the same
  // words.
  if (isAscii.test(text)) return text.match(asciiWord) ?? [];
  return text.normalize('NFKD').replace(ignoredMarks, '').normalize('NFC').match(word) ?? [];
}

const nonAsciiPattern = /[^ -~\s]/g;

/** Returns a text that the FTS5 tokenizer (`schema.ts`) splits into the same words as `toWords`. */
export function toIndexText(text: string): string {
  let written = '';
  let at = 0;
  for (let nonAscii = findNonAscii(text, at); nonAscii >= 0; nonAscii = findNonAscii(text, at)) {
    const start = Math.max(text.lastIndexOf(' ', nonAscii) + 1, at);
    const space = text.indexOf(' ', nonAscii);
    const end = space < 0 ? text.length : space;
    written += `${text.slice(at, start)}${toWords(text.slice(start, end)).join(' ')}`;
    at = end;
  }
  return written + text.slice(at);
}

function findNonAscii(text: string, from: number): number {
  nonAsciiPattern.lastIndex = from;
  return nonAsciiPattern.exec(text)?.index ?? -1;
}

/** Converts a name to one word of hex digits, ignoring case, to find only the complete name. */
export function toNameWord(name: string): string {
  // ASCII text is in NFKC already.
  const normal = isAscii.test(name) ? name : name.normalize('NFKC');
  return Buffer.from(normal.toLowerCase()).toString('hex');
}

/** Token of every indexed post, because FTS5 needs a term even if a search only excludes words. */
export const anyPostToken = 'any';

export const platformToken = (platform: Platform): string => `on${platform}`;

/** Returns the index columns of a post. `marks` has tokens for the platform and kinds of media. */
export function toPostWords(post: Status) {
  return {
    text: toIndexText(textOf(post)),
    author: authorNames(post).map(toNameWord).join(' '),
    tags: tagsOf(post).map(toNameWord).join(' '),
    marks: filterTokensOf(post).join(' '),
  };
}

/** Returns all texts of a post that a search finds, without its author and tags. */
export function textOf({ text, content_warning: warning, card, article }: Status): string {
  if (warning === null && card === null && article === null) return text;
  const shown = card === null ? [] : [card.title, card.description ?? ''];
  return [warning ?? '', text, ...shown, ...articleTexts(article)].join(' ');
}

function articleTexts(article: Article | null): readonly string[] {
  if (article === null) return [];
  const texts = article.blocks.flatMap((block) => ('text' in block ? [block.text] : []));
  return [article.title, ...texts];
}

const authorNames = ({ author, platform }: Status): readonly string[] =>
  platform === 'bluesky' ? [author.screen_name, author.id] : [author.screen_name];

function tagsOf({ text, facets }: Status): readonly string[] {
  const tags = facets.filter(({ type }) => type === 'hashtag');
  if (tags.length === 0) return [];
  const letters = [...text];
  return tags.map(({ start, end }) =>
    letters
      .slice(start, end)
      .join('')
      .replace(/^[#＃]/, ''),
  );
}

function filterTokensOf({ media, platform }: Status): readonly string[] {
  return [
    anyPostToken,
    platformToken(platform),
    ...(media.all.length > 0 ? ['media'] : []),
    ...(media.photos.length > 0 ? ['photo'] : []),
    ...(media.videos.length > 0 ? ['video'] : []),
  ];
}
