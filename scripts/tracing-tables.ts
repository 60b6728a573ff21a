import { attributeMeanings, spanTable } from '../src/lib/tracing/span-table.ts';

/** Returns the page about tracing with the tables of spans and attributes that the code defines. */
export function writeTracingTables(page: string): string {
  const spans = Object.values(spanTable).map((span) => {
    const name = 'form' in span ? span.form : span.name;
    const attributes = span.attributes.map(quote).join(', ');
    return [quote(name), span.kind, span.about, attributes];
  });
  const attributes = Object.entries(attributeMeanings).map(([name, meaning]) => [
    quote(name),
    meaning,
  ]);
  const withSpans = replaceTable(page, ['span', 'kind', 'meaning', 'attributes'], spans);
  return replaceTable(withSpans, ['attribute', 'meaning'], attributes);
}

const quote = (name: string): string => `\`${name}\``;

/**
 * Replaces the rows of the Markdown table whose column names are `header`. Returns the changed page.
 * @throws Error if `page` has no such table
 */
function replaceTable(
  page: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const head = toLine(header) + toLine(header.map(() => '---'));
  const start = page.indexOf(head);
  if (start === -1) throw new Error(`docs/tracing.md has no table with the header ${header}.`);
  const end = page.indexOf('\n\n', start) + 1;
  return page.slice(0, start) + head + rows.map(toLine).join('') + page.slice(end);
}
