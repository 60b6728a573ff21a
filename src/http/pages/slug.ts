import { toSlug } from '../../core/slug.ts';

/** Creates the naming of one page's headings: the second of a name gets `-1`, the third `-2`. */
export function createSlugs(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const slug = toSlug(heading) || 'section';
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    if (count === 0) return slug;
    const numbered = `${slug}-${count}`;
    counts.set(numbered, (counts.get(numbered) ?? 0) + 1);
    return numbered;
  };
}
