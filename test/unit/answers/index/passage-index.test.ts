import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyOf } from '../../../../src/answers/corpus/corpus.ts';
import {
  migrations,
  openPassageIndex,
  type PassageIndex,
} from '../../../../src/answers/index/passage-index.ts';
import { type RefreshProgress, refreshIndex } from '../../../../src/answers/index/refresh.ts';
import { openSqlite } from '../../../../src/lib/files/sqlite.ts';
import { corpusOf, writeFiles } from '../../../support/corpus-folder.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

function openIndex(path = ':memory:'): PassageIndex {
  const index = openPassageIndex(path);
  onTestFinished(() => index.close());
  return index;
}

const foundBy = (index: PassageIndex, term: string, where: 'anywhere' | 'above' = 'anywhere') =>
  index.postings(term, where).flatMap((id) => index.passage(id) ?? []);

const pathsOf = (index: PassageIndex, term: string, where: 'anywhere' | 'above' = 'anywhere') =>
  foundBy(index, term, where).map(({ path, heading }) => `${path}#${heading}`);

describe('passage index', () => {
  it('finds passages by their words, and by words in headings only', async () => {
    const index = openIndex();
    const corpus = corpusOf({
      'a.md': '# Ships\n\nA ship has a keel.\n\n## Anchor\n\nIt holds.\n',
      'b.md': '# Harbour\n\nAn anchor lies there.\n',
    });

    await refreshIndex({ index, corpora: [corpus] });

    expect(pathsOf(index, 'anchor')).toEqual(['a.md#Anchor', 'b.md#Harbour']);
    expect(pathsOf(index, 'anchor', 'above')).toEqual(['a.md#Anchor']);
    expect(index.totals()).toMatchObject({ files: 2, passages: 3 });
  });

  it('reads only changed files, and removes deleted ones', async () => {
    const index = openIndex();
    const corpus = corpusOf({ 'a.md': 'seal', 'b.md': 'gull', 'c.md': 'crow' });
    const refresh = () => refreshIndex({ index, corpora: [corpus] });

    expect(await refresh()).toEqual({ files: 3, read: 3, removed: 0, skipped: {} });
    expect(await refresh()).toEqual({ files: 3, read: 0, removed: 0, skipped: {} });

    writeFileSync(join(corpus.root, 'a.md'), 'heron');
    rmSync(join(corpus.root, 'b.md'));
    renameSync(join(corpus.root, 'c.md'), join(corpus.root, 'd.md'));
    expect(await refresh()).toEqual({ files: 2, read: 2, removed: 2, skipped: {} });
    expect(['seal', 'heron', 'gull', 'crow'].map((word) => pathsOf(index, word))).toEqual([
      [],
      ['a.md#'],
      [],
      ['d.md#'],
    ]);
  });

  it('deletes the spellings that no file contains any more, and no others', async () => {
    const index = openIndex();
    const corpus = corpusOf({
      'a.md': 'Herons and puffins fish.',
      'b.md': 'Puffins dive.',
      'c.md': 'Terns migrate.',
    });
    const refresh = () => refreshIndex({ index, corpora: [corpus] });
    const words = () => ['h', 'p', 't', 'm', 'g'].flatMap((start) => index.wordsLike(start, 4, 20));
    await refresh();
    expect(words()).toEqual(['herons', 'puffins', 'terns', 'migrate']);

    writeFileSync(join(corpus.root, 'a.md'), 'Gannets fish.');
    rmSync(join(corpus.root, 'c.md'));
    await refresh();

    expect(words()).toEqual(['puffins', 'gannets']);
    expect(['heron', 'puffin', 'tern'].map((stem) => index.passagesWith(stem))).toEqual([0, 1, 0]);
  });

  it('shows one state within a transaction while another connection writes', async () => {
    const path = join(temporaryFolder(), 'answers.db');
    const [reading, writing] = [openIndex(path), openIndex(path)];
    const corpus = corpusOf({ 'a.md': 'seal' });
    await refreshIndex({ index: writing, corpora: [corpus] });
    const file = writing.file(keyOf(corpus), 'a.md');

    const seen = reading.inSnapshot(() => {
      const before = pathsOf(reading, 'seal');
      writing.removeFiles([file?.id ?? 0]);
      return [before, pathsOf(reading, 'seal')];
    });

    expect(file).toBeDefined();
    expect(seen).toEqual([['a.md#'], ['a.md#']]);
    expect(pathsOf(reading, 'seal')).toEqual([]);
  });

  it('does not analyse a file again if only its modification time has changed', async () => {
    const index = openIndex();
    const corpus = corpusOf({ 'a.md': 'seal' });
    await refreshIndex({ index, corpora: [corpus] });

    utimesSync(join(corpus.root, 'a.md'), 1, 1);

    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(0);
  });

  it('removes a corpus that is no longer configured', async () => {
    const index = openIndex();
    const [first, second] = [corpusOf({ 'a.md': 'seal' }), corpusOf({ 'a.md': 'seal' })];
    await refreshIndex({ index, corpora: [first, second] });

    const { removed } = await refreshIndex({ index, corpora: [second] });

    expect(removed).toBe(1);
    expect(foundBy(index, 'seal').map(({ corpus }) => corpus)).toEqual([second.root]);
  });

  it('is reused by the next process', async () => {
    const path = join(temporaryFolder(), 'data', 'answers.db');
    const corpus = corpusOf({ 'a.md': 'seal' });
    const before = openPassageIndex(path);
    await refreshIndex({ index: before, corpora: [corpus] });
    before.close();

    const index = openIndex(path);

    expect(pathsOf(index, 'seal')).toEqual(['a.md#']);
    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(0);
  });

  it('reports the corpora for which it was completely built', async () => {
    const path = join(temporaryFolder(), 'answers.db');
    const corpora = [corpusOf({ 'a.md': 'seal' }), corpusOf({ 'a.md': 'gull' })];
    const before = openPassageIndex(path);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(refreshIndex({ index: before, corpora, signal })).rejects.toThrow('enough');
    expect(before.isBuiltFor(corpora)).toBe(false);
    await refreshIndex({ index: before, corpora });
    before.close();

    const index = openIndex(path);

    expect(index.isBuiltFor(corpora)).toBe(true);
    expect(index.isBuiltFor(corpora.slice(1))).toBe(false);
  });

  it.each([
    ['of another analysis', 'UPDATE meta SET analysis = analysis + 1'],
    ['of a newer version', 'PRAGMA user_version = 99'],
  ])('is rebuilt from one %s', async (_, sql) => {
    const path = join(temporaryFolder(), 'answers.db');
    const corpus = corpusOf({ 'a.md': 'seal' });
    const before = openPassageIndex(path);
    await refreshIndex({ index: before, corpora: [corpus] });
    before.close();
    const other = openSqlite({ path, migrations });
    other.exec(sql);
    other.close();

    const index = openIndex(path);

    expect(index.totals().files).toBe(0);
    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(1);
    expect(pathsOf(index, 'seal')).toEqual(['a.md#']);
  });

  it('is rebuilt if the file is not an SQLite database', () => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      'answers.db': 'this is no database, but it is long enough to be looked at'.repeat(20),
    });

    expect(openIndex(join(folder, 'answers.db')).totals().files).toBe(0);
  });

  it('removes a file that can no longer be read', async () => {
    const index = openIndex();
    const corpus = corpusOf({ 'a.md': 'seal', 'b.md': 'gull' });
    await refreshIndex({ index, corpora: [corpus] });
    writeFileSync(join(corpus.root, 'a.md'), 'a heron');

    // The file is deleted after its folder was listed.
    const onReading = (absolute: string) => rmSync(absolute);
    const refreshed = await refreshIndex({ index, corpora: [corpus], onReading });

    expect(refreshed).toEqual({ files: 2, read: 0, removed: 1, skipped: { unreadable: 1 } });
    expect(['seal', 'heron', 'gull'].flatMap((word) => pathsOf(index, word))).toEqual(['b.md#']);
  });

  it('indexes a skipped file without text until it changes', async () => {
    const index = openIndex();
    const corpus = corpusOf({ 'a.md': 'seal', 'b.md': 'gull' });
    const skip = new Set([join(corpus.root, 'a.md')]);
    await refreshIndex({ index, corpora: [corpus], skip });
    expect(index.totals()).toMatchObject({ files: 2, passages: 1 });

    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(0);
    writeFileSync(join(corpus.root, 'a.md'), 'a seal');
    await refreshIndex({ index, corpora: [corpus] });

    expect(pathsOf(index, 'seal')).toEqual(['a.md#']);
  });

  it('stores a binary file without text, so that it is not read again', async () => {
    const index = openIndex();
    const corpus = corpusOf({ 'a.md': Buffer.from([97, 0, 98]) });

    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(1);
    expect((await refreshIndex({ index, corpora: [corpus] })).read).toBe(0);
    expect(index.totals()).toMatchObject({ files: 1, passages: 0 });
  });

  it.each([
    '"',
    '*',
    'NEAR(',
    'a AND',
    'title:x',
    '-',
    ')',
    '^a',
    "'; DROP TABLE files; --",
    '\0',
    '🦆',
  ])('treats %j as a plain search term', async (term) => {
    const index = openIndex();
    await refreshIndex({ index, corpora: [corpusOf({ 'gull.md': 'seal' })] });

    expect(foundBy(index, term)).toEqual([]);
    expect(pathsOf(index, 'seal')).toEqual(['gull.md#']);
  });

  it('reports progress during a refresh, and stops when the signal is aborted', async () => {
    const index = openIndex();
    const corpus = corpusOf(
      Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}.md`, `word${at}`])),
    );
    const reports: RefreshProgress[] = [];
    const stop = new AbortController();
    const report = (progress: RefreshProgress) => {
      reports.push(progress);
      stop.abort(new Error('enough'));
    };

    const refresh = refreshIndex({
      index,
      corpora: [corpus],
      signal: stop.signal,
      onProgress: report,
    });

    await expect(refresh).rejects.toThrow('enough');
    expect(reports).toEqual([{ files: 20, read: 20, removed: 0 }]);
    const rest = await refreshIndex({ index, corpora: [corpus] });
    expect(rest).toEqual({ files: 150, read: 130, removed: 0, skipped: {} });
  });

  it('splits long sections between blocks, and keeps code whole', async () => {
    const index = openIndex();
    const paragraph = `${'word '.repeat(150)}end.`;
    const code = Array.from({ length: 300 }, (_, line) => `line(${line});`).join('\n');
    const text = `# Long\n\n${paragraph}\n\n${paragraph}\n\n${paragraph}\n\n\`\`\`js\n${code}\n\`\`\`\n\nlast words\n`;
    await refreshIndex({ index, corpora: [corpusOf({ 'a.md': text })] });

    const found = foundBy(index, 'long').toSorted((a, b) => a.line - b.line);

    expect(found.map(({ heading }) => heading)).toEqual(['Long', 'Long', 'Long']);
    const blocks = found.flatMap(({ id }) => index.blocks(id));
    expect(blocks.find(({ kind }) => kind === 'code')?.text).toBe(code);
    for (const { id, line, endLine } of found) {
      for (const block of index.blocks(id)) {
        expect(block.line).toBeGreaterThanOrEqual(line);
        expect(block.endLine).toBeLessThanOrEqual(endLine);
      }
    }
  });
});
