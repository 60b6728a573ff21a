import { joinBlocks, listItem } from './layout.ts';
import { renderLine } from './text.ts';

/** Gives the section with a read's warnings; null where there are none. */
export function renderNotes(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null;
  const items = warnings.map((warning) => listItem(renderLine(warning), '- '));
  return joinBlocks(['---', '**Notes**', items.join('\n')]);
}
