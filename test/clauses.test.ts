import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clauseGaps } from './support/clause-gaps.ts';
import { clauses } from './support/clauses.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));
const gapsFile = 'test/support/clause-gaps.ts';
const clauseFiles = [
  'test/support/clauses.ts',
  'test/support/clauses/read-service.ts',
  'test/support/clauses/session-service.ts',
];

const comments = /^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm;
const calls =
  /(?<![\w.$])clause(?:Each)?(?:<[\s\S]{0,200}?>)?\(\s*(\[[^\]]*\]|'[^']*'|"[^"]*"|`[^`]*`)/g;
const literals = /'([^']*)'|"([^"]*)"|`([^`]*)`/g;
const idLiterals = /'((?:read|session)\.\w+\.\w+)'/g;

interface Citation {
  readonly file: string;
  readonly id: string;
}

function testFiles(): string[] {
  return readdirSync(join(projectDir, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort();
}

function citedIn(source: string): string[] {
  const firstArguments = [...source.replace(comments, '').matchAll(calls)].map((m) => m[1] ?? '');
  return firstArguments.flatMap((argument) =>
    [...argument.matchAll(literals)].map((m) => m[1] ?? m[2] ?? m[3] ?? ''),
  );
}

function citations(): Citation[] {
  return testFiles().flatMap((file) =>
    citedIn(readFileSync(join(projectDir, file), 'utf8')).map((id) => ({ file, id })),
  );
}

/** The ids written in a file at HEAD; undefined where there is no git, no commit or no such file. */
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

describe('the clauses of the specifications', () => {
  const cited = citations();
  const citedIds = new Set(cited.map(({ id }) => id));
  const gaps = new Set<string>(clauseGaps);

  it('are the only ones cited', () => {
    const unknown = cited.filter(({ id }) => !Object.hasOwn(clauses, id));
    expectNone(
      unknown.map(({ file, id }) => `${id} (${file})`),
      'no such clause',
    );
  });

  it('are off the list of gaps once a test covers them', () => {
    const covered = clauseGaps.filter((id) => citedIds.has(id));
    expectNone(covered, 'remove these from clause-gaps.ts');
  });

  it('have a test unless they are on the list of gaps', () => {
    const lost = Object.keys(clauses).filter((id) => !citedIds.has(id) && !gaps.has(id));
    expectNone(lost, 'these lost their test');
  });
});

describe('the list of gaps', () => {
  it('is sorted and has no duplicates', () => {
    expect(clauseGaps, 'sort clause-gaps.ts and drop duplicates').toEqual(
      [...new Set(clauseGaps)].sort(),
    );
  });

  it('names only clauses of the specifications', () => {
    const unknown = clauseGaps.filter((id) => !Object.hasOwn(clauses, id));
    expectNone(unknown, 'no such clause, remove from clause-gaps.ts');
  });

  it('only gets shorter', () => {
    const gapsBefore = idsAtHead(gapsFile);
    if (gapsBefore === undefined) {
      return;
    }
    const clausesBefore = new Set(clauseFiles.flatMap((file) => idsAtHead(file) ?? []));
    const added = clauseGaps.filter((id) => !gapsBefore.includes(id) && clausesBefore.has(id));
    expectNone(added, 'these must not return to clause-gaps.ts');
  });
});
