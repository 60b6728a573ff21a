import type { Facet } from '../../../model/post.ts';
import { hashtagUrl, profileUrl } from '../../../model/reference.ts';
import { ownAddress } from '../own-address.ts';

/** Links first, so that an `@` or a `#` inside an address is no mention and no tag. */
const marks =
  /(?<link>https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'’”»。、）])|(?<![\p{L}\p{N}_.@-])@(?<mention>[a-z0-9-]+\.example)(?![a-z0-9-])|(?<![\p{L}\p{N}_&#])#(?<tag>[\p{N}_]*\p{L}[\p{L}\p{M}\p{N}_]*)/giu;

/**
 * Finds the links, the mentions of `@name.example` and the tags in a text, in order. Offsets count
 * code points.
 */
export function markText(text: string): Facet[] {
  return [...text.matchAll(marks)].map((match) => {
    const start = countCodePoints(text.slice(0, match.index));
    return { ...toTarget(match), start, end: start + countCodePoints(match[0]) };
  });
}

function toTarget(match: RegExpExecArray): Pick<Facet, 'type' | 'url'> {
  const { mention, tag } = match.groups ?? {};
  if (mention !== undefined) {
    return { type: 'mention', url: profileUrl('sample', mention.toLowerCase(), ownAddress) };
  }
  if (tag !== undefined) {
    return { type: 'hashtag', url: hashtagUrl('sample', tag, { baseUrl: ownAddress }) };
  }
  return { type: 'link', url: match[0] };
}

/**
 * Gives the code points that a run takes in a text: the first place where the text says it.
 *
 * @throws Error when the text does not say it: the sample contradicts itself.
 */
export function findRun(
  text: string,
  run: string,
): { readonly start: number; readonly end: number } {
  const index = text.indexOf(run);
  if (index === -1) throw new Error(`The sample styles "${run}", which its text does not say.`);
  const start = countCodePoints(text.slice(0, index));
  return { start, end: start + countCodePoints(run) };
}

function countCodePoints(text: string): number {
  return [...text].length;
}
