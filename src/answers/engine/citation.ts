import { toSlug } from '../../core/slug.ts';
import type { Citation } from '../answer.ts';

/** Returns a citation as it stands in an answer: `path#heading:line`, without `#` if there is no heading. */
export function printCitation({ path, heading, line }: Citation): string {
  const slug = toSlug(heading);
  return slug === '' ? `${path}:${line}` : `${path}#${slug}:${line}`;
}
