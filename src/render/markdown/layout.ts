/** Joins blocks of Markdown with an empty line between them; leaves empty ones out. */
export function joinBlocks(blocks: readonly (string | null)[]): string {
  return blocks.filter((block) => block !== null && block !== '').join('\n\n');
}

/** Joins lines of one paragraph with hard breaks; leaves empty ones out. */
export function joinLines(lines: readonly (string | null)[]): string {
  return lines.filter((line) => line !== null && line !== '').join('  \n');
}

/** Joins facts on one line with ` · `; leaves empty ones out. */
export function joinFacts(facts: readonly (string | null)[]): string {
  return facts.filter((fact) => fact !== null && fact !== '').join(' · ');
}

/** Puts Markdown into a block quote. */
export function quoteBlock(markdown: string): string {
  return prefixLines(markdown, '> ', '> ');
}

/** Puts Markdown into a list item; `marker` is `- ` or a number such as `1. `. */
export function listItem(markdown: string, marker: string): string {
  return prefixLines(markdown, marker, ' '.repeat(marker.length));
}

function prefixLines(markdown: string, first: string, rest: string): string {
  return markdown
    .split('\n')
    .map((line, index) => (line === '' ? rest.trimEnd() : `${index === 0 ? first : rest}${line}`))
    .join('\n');
}
