import { toSlug } from '../../core/slug.ts';
import type { Citation } from '../answer.ts';

/** Gives a heading, as it is written, as the anchor of pages: `Stop Conditions` is `stop-conditions`. */
export function toAnchor(heading: string): string {
  return toSlug(heading.replaceAll(/\[([^[\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, '$1'));
}

/** Gives a citation as it stands in an answer: `path#heading:line`, without `#` where there is no heading. */
export function printCitation({ path, heading, line }: Citation): string {
  const slug = toAnchor(heading);
  return slug === '' ? `${path}:${line}` : `${path}#${slug}:${line}`;
}
