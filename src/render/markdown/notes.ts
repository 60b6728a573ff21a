import { escapeLine } from './escape.ts';
import { joinBlocks, listItem } from './layout.ts';

/** Gives the section with a read's warnings; null where there are none. */
export function renderNotes(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null;
  const items = warnings.map((warning) => listItem(escapeLine(warning), '- '));
  return joinBlocks(['---', '**Notes**', items.join('\n')]);
}
