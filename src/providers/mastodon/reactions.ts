import type { Reaction } from '../../model/reaction.ts';
import { isWebUrl, toCodePoints } from '../text.ts';
import type { RichText } from '../text-writer.ts';
import type { StatusPayload } from './payload.ts';

/** Returns the hashtags of a post that are not in its text; `null` where all of them are. */
export function shapeTags(
  { tags }: StatusPayload,
  { text, facets }: RichText,
): readonly string[] | null {
  if (tags.length === 0) return null;
  const points = toCodePoints(text);
  const hashtags = facets.filter(({ type }) => type === 'hashtag');
  const shown = new Set(
    hashtags.map(({ start, end }) => toName(points.slice(start, end).join(''))),
  );
  const beside = tags.map(({ name }) => name).filter((name) => !shown.has(toName(name)));
  return beside.length === 0 ? null : beside;
}

function toName(tag: string): string {
  return tag.replace(/^[#＃]/u, '').toLowerCase();
}

/** Returns the reactions to a post, which each kind of software has under another name. */
export function reactionsOf({ pleroma, emoji_reactions, reactions }: StatusPayload) {
  const lists = [pleroma?.emoji_reactions ?? [], emoji_reactions, reactions];
  return lists.find((list) => list.length > 0) ?? [];
}

/** Returns the reactions to a post, the most frequent first; `null` where there are none. */
export function shapeReactions(row: StatusPayload): readonly Reaction[] | null {
  const counted = reactionsOf(row).filter(({ count }) => count > 0);
  if (counted.length === 0) return null;
  return counted
    .map(({ name, count, url }) => ({ name, count, ...(url !== null && isWebUrl(url) && { url }) }))
    .sort((a, b) => b.count - a.count);
}
