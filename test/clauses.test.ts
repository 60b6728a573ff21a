import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toSlug } from '../src/lib/text.ts';
import { clauseGaps } from './support/clause-gaps.ts';
import { clauses } from './support/clauses.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));
const gapsFile = 'test/support/clause-gaps.ts';
const clausesFile = 'test/support/clauses.ts';

/** Maximum number of clauses on one test, so that a reader sees which assertion shows which. */
const maxIdsOfTest = 3;

const comments = /^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;
const calls = /(?<![\w.$])clause\(([^)]*)\)/g;
const literals = /'([^']*)'|"([^"]*)"|`([^`]*)`/g;
const idLiterals = /'((?:read|session)\.\w+\.\w+)'/g;

/** A call of `clause`. */
interface Citation {
  readonly file: string;
  readonly ids: readonly string[];
}

function testFiles(): string[] {
  return readdirSync(join(projectDir, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort();
}

function citationsIn(file: string): Citation[] {
  const source = readFileSync(join(projectDir, file), 'utf8').replace(comments, '');
  return [...source.matchAll(calls)].map(([, argument = '']) => ({
    file,
    ids: [...argument.matchAll(literals)].map((m) => m[1] ?? m[2] ?? m[3] ?? ''),
  }));
}

/** Returns the anchors of a page of the contract, as in `reads.md#keys`. */
function anchorsOf(page: string): string[] {
  const source = readFileSync(join(projectDir, 'docs/contract', page), 'utf8');
  const headings = source.match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) => `${page}#${toSlug(heading.replace(/^#+ /, ''))}`);
}

/** Returns the ids in a file at HEAD; `undefined` without git, without a commit or without the file. */
function idsAtHead(file: string): string[] | undefined {
  try {
    const source = execFileSync('git', ['show', `HEAD:${file}`], {
      cwd: projectDir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return [...source.matchAll(idLiterals)].map((m) => m[1] ?? '');
  } catch {
    return undefined;
  }
}

function expectNone(found: readonly string[], problem: string): void {
  expect(found, `${problem}: ${found.join(', ')}`).toEqual([]);
}

const ids = new Set<string>(clauses.map(({ id }) => id));

describe('the clauses of the contract', () => {
  const citations = testFiles().flatMap(citationsIn);
  const citedIds = new Set(citations.flatMap((citation) => citation.ids));
  const gaps = new Set<string>(clauseGaps);

  it('have an id of their own', () => {
    expect(clauses.map(({ id }) => id)).toEqual([...ids]);
  });

  it.each(['reads.md', 'sessions.md'])('lead to headings of docs/contract/%s', (page) => {
    const anchors = clauses.map(({ anchor }) => anchor).filter((one) => one.startsWith(page));
    const known = anchorsOf(page);

    const lost = [...new Set(anchors)].filter((anchor) => !known.includes(anchor));

    expectNone(lost, 'no such heading');
  });

  it('are the only ones cited', () => {
    const unknown = citations.flatMap(({ file, ids: cited }) =>
      cited.filter((id) => !ids.has(id)).map((id) => `${id} (${file})`),
    );
    expectNone(unknown, 'no such clause');
  });

  it('are few on each test', () => {
    const crowded = citations
      .filter(({ ids: cited }) => cited.length > maxIdsOfTest)
      .map(({ file, ids: [first] }) => `${first} (${file})`);
    expectNone(crowded, `split the tests with more than ${maxIdsOfTest} clauses`);
  });

  it('are off the list of gaps once a test covers them', () => {
    const covered = clauseGaps.filter((id) => citedIds.has(id));
    expectNone(covered, 'remove these from clause-gaps.ts');
  });

  it('have a test unless they are on the list of gaps', () => {
    const lost = [...ids].filter((id) => !citedIds.has(id) && !gaps.has(id));
    expectNone(lost, 'these lost their test');
  });
});

describe('the list of gaps', () => {
  it('is sorted and has no duplicates', () => {
    expect(clauseGaps, 'sort clause-gaps.ts and drop duplicates').toEqual(
      [...new Set(clauseGaps)].sort(),
    );
  });

  it('names only clauses of the contract', () => {
    const unknown = clauseGaps.filter((id) => !ids.has(id));
    expectNone(unknown, 'no such clause, remove from clause-gaps.ts');
  });

  it('only gets shorter', () => {
    const gapsBefore = idsAtHead(gapsFile);
    if (gapsBefore === undefined) {
      return;
    }
    const clausesBefore = new Set(idsAtHead(clausesFile));
    const added = clauseGaps.filter((id) => !gapsBefore.includes(id) && clausesBefore.has(id));
    expectNone(added, 'these must not return to clause-gaps.ts');
  });
});
