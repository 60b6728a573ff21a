/** Returns the URL fragment of a heading, as GitHub generates it: `Keys and limits` becomes `keys-and-limits`. */
export function toSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
