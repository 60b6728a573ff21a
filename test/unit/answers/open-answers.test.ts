import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Corpus } from '../../../src/answers/corpus/corpus.ts';
import type { RefreshProgress } from '../../../src/answers/index/refresh.ts';
import { openAnswers } from '../../../src/answers/open-answers.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { corpusOf, writeFiles } from '../../support/corpus-folder.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

/** A clock on which short sleeps are over at once, and long ones when they are told to be. */
function createStepClock() {
  const wakers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (ms < 1000) return resolve();
        wakers.add(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  const wakeAll = () => {
    for (const wake of wakers) wake();
    wakers.clear();
  };
  return { clock, wakeAll };
}

/** Opens answers that keep up with a corpus; `refreshed` resolves after the next refresh that fits. */
function keepUpWith(corpus: Corpus, path = ':memory:') {
  const { clock, wakeAll } = createStepClock();
  const waiting = new Set<(progress: RefreshProgress) => void>();
  const onProgress = (progress: RefreshProgress) => {
    for (const tell of waiting) tell(progress);
  };
  const answers = openAnswers({ corpora: [corpus], path, clock, onProgress });
  onTestFinished(() => answers.close());
  const refreshed = (fits: (progress: RefreshProgress) => boolean) =>
    new Promise<void>((resolve) => {
      const tell = (progress: RefreshProgress) => {
        if (!fits(progress)) return;
        waiting.delete(tell);
        // The engine is told right after the last report.
        setImmediate(resolve);
      };
      waiting.add(tell);
    });
  const isAnswered = async (text: string) => {
    const asking = { signal: new AbortController().signal, onText: () => {} };
    return !(await answers.engine.answer({ text, earlier: [] }, asking)).abstained;
  };
  return { answers, refreshed, isAnswered, wakeAll };
}

it('is ready once the index is built, and follows its files from then on', async () => {
  const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
  const { answers, refreshed, isAnswered } = keepUpWith(corpus);
  expect(answers.engine.isReady).toBe(false);

  const built = refreshed(() => true);
  answers.keepCurrent();
  await built;
  expect(answers.engine.isReady).toBe(true);
  expect(await isAnswered('herons')).toBe(true);

  const added = refreshed(({ read }) => read > 0);
  writeFiles(corpus.root, { 'deep/b.md': '# Puffins\n\nPuffins dive.\n' });
  await added;
  expect(await isAnswered('puffins')).toBe(true);

  const changed = refreshed(({ read }) => read > 0);
  writeFileSync(join(corpus.root, 'deep/b.md'), '# Terns\n\nTerns fly far.\n');
  await changed;
  expect(await isAnswered('terns')).toBe(true);

  const removed = refreshed((progress) => progress.removed > 0);
  rmSync(join(corpus.root, 'a.md'));
  await removed;
  expect(await isAnswered('herons')).toBe(false);
});

it('looks again after a while where no change was told', async () => {
  const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
  const { answers, refreshed, wakeAll } = keepUpWith(corpus);
  const built = refreshed(() => true);
  answers.keepCurrent();
  await built;

  const again = refreshed(({ read }) => read === 0);
  wakeAll();

  await again;
});

it('is ready at once with the index of an earlier process', async () => {
  const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
  const path = join(temporaryFolder(), 'answers.db');
  const before = keepUpWith(corpus, path);
  await before.answers.refresh();
  await before.answers.close();

  const { answers, isAnswered } = keepUpWith(corpus, path);

  expect(answers.engine.isReady).toBe(true);
  expect(await isAnswered('herons')).toBe(true);
});

it('ends a refresh that is under way when it is closed', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, at): [string, string] => [`${at}.md`, `word${at}`]),
  );
  const { answers } = keepUpWith(corpusOf(files));
  const refresh = answers.refresh().catch((error: unknown) => error);

  await answers.close();

  expect(await refresh).toBeInstanceOf(DOMException);
});
