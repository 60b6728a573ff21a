import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toSlug } from '../src/lib/text.ts';

interface Text {
  readonly file: string;
  readonly text: string;
}

/** A block comment, or a line comment after a space or at the start of a line. */
const comment = /\/\*(?:[^*]|\*(?!\/))*\*\/|(?<![^\s])\/\/.*/g;

const commentTexts = ['src', 'clients', 'test', 'bench', 'scripts'].flatMap((folder) =>
  filesIn(folder, '.ts').flatMap((file) => textsIn(file, comment)),
);
const pageTexts = [
  'README.md',
  'CONTRIBUTING.md',
  'clients/typescript/README.md',
  ...filesIn('docs', '.md'),
].flatMap((file) => textsIn(file, /[\s\S]+/g));
const texts = [...commentTexts, ...pageTexts];
const recordNumbers = new Set(readdirSync('docs/decisions').map((name) => name.slice(0, 4)));

it('finds pages and headings of docs/ by their references', () => {
  const page = /(?<![\w/.-])docs\/[\w./-]+\.md(?:#[\w-]+)?/g;

  expect(findAll(texts, page).filter(({ found }) => !isThere(found))).toEqual([]);
});

it('finds decision records by their numbers', () => {
  const record = /(?:\brecords? |docs\/decisions\/)\d{4}/g;

  const lost = findAll(texts, record).filter(({ found }) => !recordNumbers.has(found.slice(-4)));

  expect(lost).toEqual([]);
});

it('finds each decision record in the index, once', () => {
  const index = readFileSync('docs/decisions/README.md', 'utf8');
  const records = readdirSync('docs/decisions').filter((name) => name !== 'README.md');

  const listed = [...index.matchAll(/^- \[(\d{4})\]\((\1-[\w-]+\.md)\) \S/gm)].map(
    ([, , name]) => name,
  );

  expect(listed.toSorted()).toEqual(records.toSorted());
});

it('finds the files that pages name', () => {
  const sources = ['src', 'clients', 'test', 'bench', 'scripts', 'resources'];
  const files = sources.flatMap((folder) => filesIn(folder, ''));
  const isNamed = (path: string) => files.some((file) => `/${file}/`.includes(`/${path}/`));
  const path =
    /`(?:[\w.-]+\/)*[\w.-]+\.(?:ts|sh)`|`(?:src|clients|test|bench|scripts|resources)\/[\w./-]+`/g;

  const lost = findAll(pageTexts, path).filter(
    ({ found }) => !isNamed(found.slice(1, -1).replace(/\/$/, '')),
  );

  expect(lost).toEqual([]);
});

it('cites no document that readers do not have', () => {
  const absent =
    /\b(?:(?:decisions|protocol|specification) sections?|decisions\.md|session-protocol|(?:read|session)-service\.md)\b/gi;

  expect(findAll(texts, absent)).toEqual([]);
});

it('cites sections of RFCs and of documents with a URL only', () => {
  const citable = /\bRFC \d|https?:\/\//;
  const unclear = commentTexts.filter(({ text }) => !citable.test(text));

  expect(findAll(unclear, /\bsections? \d[\d.]*/gi)).toEqual([]);
});

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => `${folder}/${name}`);
}

/** Returns what the pattern finds in a file, each on one line and without the marks of comments. */
function textsIn(file: string, pattern: RegExp): Text[] {
  const found = readFileSync(file, 'utf8').match(pattern) ?? [];
  return found.map((text) => ({ file, text: text.replaceAll(/\n[ \t]*\*?[ \t]*/g, ' ') }));
}

function findAll(where: readonly Text[], pattern: RegExp): { file: string; found: string }[] {
  return where.flatMap(({ file, text }) =>
    (text.match(pattern) ?? []).map((found) => ({ file, found })),
  );
}

function isThere(reference: string): boolean {
  const [path = '', fragment] = reference.split('#');
  if (!existsSync(path)) return false;
  const headings = readFileSync(path, 'utf8').match(/^#+ .*$/gm) ?? [];
  return (
    fragment === undefined ||
    headings.some((one) => toSlug(one.slice(one.indexOf(' '))) === fragment)
  );
}
