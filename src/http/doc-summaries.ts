import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page of the documentation, as lists of pages tell of it. */
export interface DocSummary {
  /** Its name in the address: `/docs/{name}`. */
  readonly name: string;
  readonly title: string;
  /** Its first sentence, without markup. */
  readonly summary: string;
}

/** The page that a newcomer begins with. */
const first = 'start';

/**
 * Reads what the pages of a folder are called and begin with: first the page for newcomers, then the
 * others by name.
 *
 * @throws Error where the folder cannot be read
 */
export function readDocSummaries(folder: string): readonly DocSummary[] {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort((a, b) => Number(b === first) - Number(a === first) || a.localeCompare(b, 'en'));
  return names.map((name) => summarizePage(name, readFileSync(join(folder, `${name}.md`), 'utf8')));
}

/** Gives the title and the first sentence of a page: of its first paragraph that is prose. */
export function summarizePage(name: string, markdown: string): DocSummary {
  const text = markdown.replaceAll(/^```.*\n(?:.*\n)*?```$/gm, '');
  const blocks = text.split(/\n{2,}/).map((block) => block.trim());
  const title = blocks.find((block) => block.startsWith('# '))?.slice(2) ?? name;
  const prose = blocks.find((block) => /^[\p{L}\p{N}`[“]/u.test(block)) ?? '';
  const beginning = toPlainText(prose);
  const [sentence = beginning] = /^.*?[.:](?= |$)/.exec(beginning) ?? [];
  return { name, title: toPlainText(title), summary: sentence };
}

function toPlainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ');
}
