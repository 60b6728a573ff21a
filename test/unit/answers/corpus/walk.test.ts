import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Corpus } from '../../../../src/answers/corpus/corpus.ts';
import { maxFileBytes, maxJsonBytes, walkCorpus } from '../../../../src/answers/corpus/walk.ts';
import { corpusOf, writeFiles } from '../../../support/corpus-folder.ts';

async function paths(corpus: Corpus): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path } of walkCorpus(corpus)) found.push(path);
  return found;
}

describe('walkCorpus', () => {
  it('gives the files that can be read, in order', async () => {
    const corpus = corpusOf({
      'b.md': 'b',
      'a/z.rst': 'z',
      'a/code.ts': 'x',
      'a/photo.png': 'x',
      README: 'x',
      LICENSE: 'x',
      '.hidden.md': 'x',
      '.git/config.md': 'x',
      'node_modules/m/README.md': 'x',
      'empty.md': '',
    });

    expect(await paths(corpus)).toEqual(['LICENSE', 'README', 'a/code.ts', 'a/z.rst', 'b.md']);
  });

  it('leaves out what .gitignore files say, the inner one over the outer', async () => {
    const corpus = corpusOf({
      '.gitignore': '/build\n*.gen.md\n!keep.gen.md\n',
      'build/a.md': 'x',
      'src/build/a.md': 'x',
      'src/b.gen.md': 'x',
      'src/keep.gen.md': 'x',
      'src/.gitignore': 'private/\n!c.gen.md\n',
      'src/c.gen.md': 'x',
      'src/private/d.md': 'x',
    });

    expect(await paths(corpus)).toEqual(['src/build/a.md', 'src/c.gen.md', 'src/keep.gen.md']);
  });

  it('follows no link', async () => {
    const outside = corpusOf({ 'secret.md': 'x', 'deep/secret.md': 'x' });
    const corpus = corpusOf({ 'a.md': 'x' });
    symlinkSync(join(outside.root, 'secret.md'), join(corpus.root, 'file.md'));
    symlinkSync(join(outside.root, 'deep'), join(corpus.root, 'folder'));
    symlinkSync(corpus.root, join(corpus.root, 'loop'));

    expect(await paths(corpus)).toEqual(['a.md']);
  });

  it('leaves out huge files', async () => {
    const corpus = corpusOf({
      'fits.md': 'x'.repeat(maxFileBytes),
      'huge.md': 'x'.repeat(maxFileBytes + 1),
      'long.json': 'x'.repeat(maxJsonBytes),
      'longer.json': 'x'.repeat(maxJsonBytes + 1),
    });

    expect(await paths(corpus)).toEqual(['fits.md', 'long.json']);
  });

  it('keeps to what a corpus names', async () => {
    const { root } = corpusOf({
      'README.md': 'x',
      'docs/a.md': 'x',
      'docs2/b.md': 'x',
      'other.md': 'x',
    });

    expect(await paths({ name: 'own', root, only: ['README.md', 'docs'] })).toEqual([
      'README.md',
      'docs/a.md',
    ]);
  });

  it('leaves out the paths that a corpus excepts', async () => {
    const { root } = corpusOf({ 'docs/a.md': 'x', 'docs/rules/b.md': 'x', 'docs/rules.md': 'x' });

    expect(await paths({ name: 'own', root, only: ['docs'], except: ['docs/rules'] })).toEqual([
      'docs/a.md',
      'docs/rules.md',
    ]);
  });

  it('gives nothing for a folder that is not there, or one that is a file’s name', async () => {
    const { root } = corpusOf({ 'a.md': 'x' });
    mkdirSync(join(root, 'folder.md'));
    writeFiles(root, { 'folder.md/b.md': 'x' });

    expect(await paths({ name: 'x', root: join(root, 'nowhere') })).toEqual([]);
    expect(await paths({ name: 'x', root })).toEqual(['a.md', 'folder.md/b.md']);
  });
});
