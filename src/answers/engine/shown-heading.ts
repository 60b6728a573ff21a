import { toPlainHeading } from '../readers/markdown.ts';
import { kindOf } from '../readers/reader-kinds.ts';

/** Returns the heading of a passage as a reader of the file sees it: without the marks of Markdown. */
export function toShownHeading(passage: {
  readonly path: string;
  readonly heading: string;
}): string {
  const kind = kindOf(passage.path);
  return kind === 'markdown' || kind === 'mdx' ? toPlainHeading(passage.heading) : passage.heading;
}
