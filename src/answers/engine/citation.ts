import type { Citation } from '../answer.ts';

/** Gives a heading as the anchor that code hosts make of it: `Stop Conditions` is `stop-conditions`. */
export function toSlug(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

/** Gives a citation as it stands in an answer: `path#heading:line`, without `#` where there is no heading. */
export function printCitation({ path, heading, line }: Citation): string {
  const slug = toSlug(heading);
  return slug === '' ? `${path}:${line}` : `${path}#${slug}:${line}`;
}
