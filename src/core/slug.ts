/**
 * Gives the fragment of a heading, as GitHub names it: `Keys and limits` becomes `keys-and-limits`. It
 * takes the heading as a reader sees it, without marks.
 */
export function toSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
