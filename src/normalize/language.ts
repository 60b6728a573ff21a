import type { Post } from '../model/post.ts';

const maxLength = 64; // RFC 5646 §4.4.1 recommends room for 35 characters

const subtags = [
  '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})', // language, with extensions of it
  '(?:-[a-z]{4})?', // script
  '(?:-(?:[a-z]{2}|\\d{3}))?', // region
  '(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*', // variants
  '(?:-[a-wyz\\d](?:-[a-z\\d]{2,8})+)*', // extensions
  '(?:-x(?:-[a-z\\d]{1,8})+)?', // private use
];

const privateUse = 'x(?:-[a-z\\d]{1,8})+';

/** Irregular tags from before RFC 4646; the others from then are well-formed anyway. */
const irregular = 'en-gb-oed|i-[a-z]{3,8}|sgn-(?:be-fr|be-nl|ch-de)';

const wellFormed = new RegExp(`^(?:${subtags.join('')}|${privateUse}|${irregular})$`, 'i');

/** Returns a language tag unchanged; `null` if it is not well-formed (BCP 47, RFC 5646 §2.1). */
export const toLanguage = (tag: string | null | undefined): string | null =>
  typeof tag === 'string' && tag.length <= maxLength && wellFormed.test(tag) ? tag : null;

/** Checks the language tags of a post from a file, and of its quotes. */
export function checkLanguages(post: Post): Post {
  if (post.type === 'tombstone') return post;
  const { lang, quote } = post;
  return { ...post, lang: toLanguage(lang), quote: quote && checkLanguages(quote) };
}
