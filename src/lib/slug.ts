/** Returns a heading's URL fragment as on GitHub: `Keys and limits` becomes `keys-and-limits`. */
export function toSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
