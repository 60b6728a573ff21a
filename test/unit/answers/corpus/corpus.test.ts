import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Corpus,
  maxFileBytes,
  maxJsonBytes,
  ownCorpus,
  walkCorpus,
} from '../../../../src/answers/corpus/corpus.ts';
import { navigation } from '../../../../src/routes/pages/docs/navigation.ts';
import { corpusOf, writeFiles } from '../../../support/corpus-folder.ts';

it('answers from the pages of the documentation and CONTRIBUTING.md, not from records or the OpenAPI description', () => {
  const pages = [...walkCorpus(ownCorpus())].map(({ path }) => path);
  const listed = navigation
    .flatMap((group) => group.pages.map(({ name }) => `docs/${name}.md`))
    .filter((path) => !/^docs\/api[./]/.test(path));

  expect(pages.toSorted()).toEqual(['CONTRIBUTING.md', ...listed].toSorted());
});

async function paths(corpus: Corpus): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path } of walkCorpus(corpus)) found.push(path);
  return found;
}

describe('walkCorpus', () => {
  it('yields the readable files in order', async () => {
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

  it('skips files excluded by .gitignore, where an inner file overrides an outer one', async () => {
    const corpus = corpusOf({
      '.git/HEAD': 'x',
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

  it('applies .gitignore files only within a git repository', async () => {
    const files = { '.gitignore': 'docs/\n', 'docs/a.md': 'x' };
    const folder = corpusOf(files);
    const repository = corpusOf({
      '.git': 'gitdir: elsewhere',
      'sub/.gitignore': 'docs/\n',
      'sub/docs/a.md': 'x',
    });
    const inner = { ...repository, root: join(repository.root, 'sub') };

    expect(await paths(folder)).toEqual(['docs/a.md']);
    expect(await paths(inner)).toEqual([]);
  });

  it('does not follow symbolic links', async () => {
    const outside = corpusOf({ 'secret.md': 'x', 'deep/secret.md': 'x' });
    const corpus = corpusOf({ 'a.md': 'x' });
    symlinkSync(join(outside.root, 'secret.md'), join(corpus.root, 'file.md'));
    symlinkSync(join(outside.root, 'deep'), join(corpus.root, 'folder'));
    symlinkSync(corpus.root, join(corpus.root, 'loop'));

    expect(await paths(corpus)).toEqual(['a.md']);
  });

  it('skips files over the size limit', async () => {
    const corpus = corpusOf({
      'fits.md': 'x'.repeat(maxFileBytes),
      'huge.md': 'x'.repeat(maxFileBytes + 1),
      'long.json': 'x'.repeat(maxJsonBytes),
      'longer.json': 'x'.repeat(maxJsonBytes + 1),
    });

    expect(await paths(corpus)).toEqual(['fits.md', 'long.json']);
  });

  it('reports why it skips files', () => {
    const corpus = corpusOf({
      '.git/HEAD': 'x',
      '.gitignore': 'build/\n',
      'a.md': 'x',
      'build/b.md': 'x',
      'build/c.md': 'x',
      'huge.md': 'x'.repeat(maxFileBytes + 1),
      'photo.png': 'x',
      'sound.mp3': 'x',
    });
    const reasons: string[] = [];
    const found = [...walkCorpus(corpus, { onSkip: (reason) => reasons.push(reason) })];

    expect(found.map(({ path }) => path)).toEqual(['a.md']);
    expect(reasons).toEqual(['ignored', 'size', 'format', 'format']);
    expect([
      ...walkCorpus(
        { ...corpus, root: `${corpus.root}/gone` },
        { onSkip: (reason) => reasons.push(reason) },
      ),
    ]).toEqual([]);
    expect(reasons.at(-1)).toBe('unreadable');
  });

  it('yields only the paths that the corpus names', async () => {
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

  it('skips the paths that the corpus excludes', async () => {
    const { root } = corpusOf({ 'docs/a.md': 'x', 'docs/rules/b.md': 'x', 'docs/rules.md': 'x' });

    expect(await paths({ name: 'own', root, only: ['docs'], except: ['docs/rules'] })).toEqual([
      'docs/a.md',
      'docs/rules.md',
    ]);
  });

  it('yields nothing for a missing folder or a path that is a file', async () => {
    const { root } = corpusOf({ 'a.md': 'x' });
    mkdirSync(join(root, 'folder.md'));
    writeFiles(root, { 'folder.md/b.md': 'x' });

    expect(await paths({ name: 'x', root: join(root, 'nowhere') })).toEqual([]);
    expect(await paths({ name: 'x', root })).toEqual(['a.md', 'folder.md/b.md']);
  });
});
