import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Corpus } from '../../../src/answers/corpus/corpus.ts';
import type { RefreshSummary } from '../../../src/answers/index/index-refresher.ts';
import {
  type Answers,
  type AnswersOptions,
  openAnswers,
} from '../../../src/answers/open-answers.ts';
import { openThreadedAnswers } from '../../../src/answers/worker/open-threaded-answers.ts';
import { serveThread } from '../../../src/answers/worker/serve-thread.ts';
import type { StartThread, Thread } from '../../../src/answers/worker/thread-client.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { corpusOf, writeFiles } from '../../support/corpus-folder.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

/**
 * Runs the worker code for answers in this thread behind a message channel. Messages are copied as between
 * threads, but without the second that a worker needs to load TypeScript.
 */
const startChannelThread: StartThread = (options) => {
  const { port1, port2 } = new MessageChannel();
  serveThread(port2, options);
  const on = (event: string, listener: () => void) => {
    if (event === 'message') port1.on('message', listener);
    if (event === 'exit') port1.on('close', listener);
  };
  return {
    on: on as Thread['on'],
    postMessage: (request) => port1.postMessage(request),
    terminate: async () => {
      port1.close();
      return 0;
    },
  };
};

/** Clock on which short sleeps end at once, and long ones when the test ends them. */
function createStepClock() {
  const wakers = new Set<() => void>();
  const rests: number[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (ms < 1000) return resolve();
        rests.push(ms);
        wakers.add(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  const wakeAll = () => {
    for (const wake of wakers) wake();
    wakers.clear();
  };
  return { clock, wakeAll, rests };
}

/** Each way to open answers, with a function that returns a new path for the index. */
const ways = [
  ['in this thread', openAnswers, () => ':memory:'],
  ['in this thread, kept in a file', openAnswers, newFile],
  ['in a thread of their own', openInThreads, () => ':memory:'],
  ['in two threads, kept in a file', openInThreads, newFile],
] as const;

function openInThreads(options: AnswersOptions): Answers {
  return openThreadedAnswers({ ...options, startThread: startChannelThread });
}

function newFile(): string {
  return join(temporaryFolder(), 'data', 'answers.db');
}

/** Opens answers that follow a corpus. `refreshed` resolves after the next refresh that matches. */
function keepUpWith(open: typeof openAnswers, corpus: Corpus, path: string) {
  const { clock, wakeAll, rests } = createStepClock();
  const waiting = new Set<(summary: RefreshSummary) => void>();
  const onRefreshed = (summary: RefreshSummary) => {
    for (const notify of waiting) notify(summary);
  };
  const onError = (error: unknown) => {
    throw error;
  };
  const answers = open({ corpora: [corpus], path, clock, onRefreshed, onError });
  onTestFinished(() => answers.close());
  const refreshed = (fits: (summary: RefreshSummary) => boolean) =>
    new Promise<RefreshSummary>((resolve) => {
      const notify = (summary: RefreshSummary) => {
        if (!fits(summary)) return;
        waiting.delete(notify);
        // The index then waits for the next change.
        setImmediate(resolve, summary);
      };
      waiting.add(notify);
    });
  const ask = async (text: string) => {
    const pieces: string[] = [];
    const onText = (piece: string) => pieces.push(piece);
    const call = { signal: new AbortController().signal, onText };
    const answer = await answers.engine.answer({ text, earlier: [] }, call);
    expect(pieces.join('')).toBe(answer.text);
    return answer;
  };
  const isAnswered = async (text: string) => !(await ask(text)).abstained;
  return { answers, refreshed, ask, isAnswered, wakeAll, rests };
}

describe.each(ways)('answers %s', (_, open, toPath) => {
  it('become ready once the index is built, and follow changes of files', async () => {
    const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
    const { answers, refreshed, isAnswered } = keepUpWith(open, corpus, toPath());
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

  it('follow a renamed folder', async () => {
    const corpus = corpusOf({ 'old/a.md': '# Herons\n\nHerons fish alone.\n', 'b.md': 'Terns.\n' });
    const { answers, refreshed, ask } = keepUpWith(open, corpus, toPath());
    const built = refreshed(() => true);
    answers.keepCurrent();
    await built;

    const followed = refreshed(({ read, removed }) => read + removed > 0);
    renameSync(join(corpus.root, 'old'), join(corpus.root, 'new'));

    expect(await followed).toMatchObject({ files: 2, read: 1, removed: 1 });
    expect((await ask('herons')).citations[0]?.path).toBe('new/a.md');
    const changed = refreshed(({ read }) => read > 0);
    writeFileSync(join(corpus.root, 'new/a.md'), '# Gannets\n\nGannets dive.\n');
    await changed;
    expect((await ask('gannets')).citations[0]?.path).toBe('new/a.md');
  });

  it('check again sooner if a folder cannot be watched', async () => {
    const { root } = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
    const corpus = { name: 'docs', root: join(root, 'later') };
    const { answers, refreshed, isAnswered, wakeAll, rests } = keepUpWith(open, corpus, toPath());
    const built = refreshed(() => true);
    answers.keepCurrent();
    await built;
    expect(rests.at(-1)).toBe(30_000);

    const found = refreshed(({ read }) => read > 0);
    writeFiles(root, { 'later/b.md': '# Terns\n\nTerns fly far.\n' });
    wakeAll();
    await found;

    expect(await isAnswered('terns')).toBe(true);
    expect(rests.at(-1)).toBe(600_000);
  });

  it('return passages for a language model, and detect changed ones', async () => {
    const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
    const { answers, refreshed } = keepUpWith(open, corpus, toPath());
    const built = refreshed(() => true);
    answers.keepCurrent();
    await built;

    const [passage] = await answers.passages.find({ text: 'herons', earlier: [] });

    if (passage === undefined) throw new Error('Nothing was found.');
    expect(passage).toMatchObject({
      citation: { path: 'a.md', heading: 'Herons' },
      text: expect.stringContaining('Herons fish alone.'),
    });
    expect(await answers.passages.isCurrent(passage)).toBe(true);
    const changed = refreshed(({ read }) => read > 0);
    writeFileSync(join(corpus.root, 'a.md'), '# Herons\n\nHerons fish in pairs.\n');
    await changed;
    expect(await answers.passages.isCurrent(passage)).toBe(false);
  });

  it('check again after a while without reported changes', async () => {
    const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
    const { answers, refreshed, wakeAll } = keepUpWith(open, corpus, toPath());
    const built = refreshed(() => true);
    answers.keepCurrent();
    await built;

    const again = refreshed(({ read }) => read === 0);
    wakeAll();

    await again;
  });

  it('use the index of an earlier process at once', async () => {
    const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' });
    const path = newFile();
    const before = keepUpWith(openAnswers, corpus, path);
    await before.answers.refresh();
    await before.answers.close();

    const { isAnswered } = keepUpWith(open, corpus, path);

    expect(await isAnswered('herons')).toBe(true);
  });

  it('are ready with the index of an earlier process before a refresh', async () => {
    const files = Array.from({ length: 100 }, (_, at) => [`${at}.md`, 'Herons fish alone.\n']);
    const corpus = corpusOf(Object.fromEntries(files));
    const path = newFile();
    const before = keepUpWith(openAnswers, corpus, path);
    await before.answers.refresh();
    await before.answers.close();
    const { answers } = keepUpWith(open, corpus, path);
    const others = keepUpWith(open, corpusOf({ 'b.md': 'Terns.\n' }), path);
    const stop = new AbortController();

    const refresh = Promise.allSettled(
      [answers, others.answers].map((one) => one.refresh(stop.signal)),
    );
    setImmediate(() => stop.abort());
    const [own, foreign] = await refresh;

    expect([own?.status, foreign?.status]).toEqual(['rejected', 'rejected']);
    await expect.poll(() => answers.engine.isReady).toBe(true);
    expect(others.answers.engine.isReady).toBe(false);
  });

  it('report how many files were read, and read none twice', async () => {
    const corpus = corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n', 'b.txt': 'Terns.\n' });
    const { answers } = keepUpWith(open, corpus, toPath());

    expect(await answers.refresh()).toEqual({
      files: 2,
      read: 2,
      removed: 0,
      skipped: {},
      passages: 2,
      ms: 0,
    });
    expect(await answers.refresh()).toEqual({
      files: 2,
      read: 0,
      removed: 0,
      skipped: {},
      passages: 2,
      ms: 0,
    });
  });

  it('stop answering when the signal is aborted', async () => {
    const { answers, ask } = keepUpWith(open, corpusOf({ 'a.md': '# Herons\n' }), toPath());
    await answers.refresh();
    const reason = new Error('cancelled');
    const signal = AbortSignal.abort(reason);
    const pieces: string[] = [];
    const onText = (piece: string) => pieces.push(piece);

    const asked = answers.engine.answer({ text: 'herons', earlier: [] }, { signal, onText });

    await expect(asked).rejects.toBe(reason);
    expect(pieces).toEqual([]);
    expect((await ask('herons')).citations).toHaveLength(1);
  });

  it('stop a running refresh when they are closed', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at): [string, string] => [`${at}.md`, `word${at}`]),
    );
    const { answers } = keepUpWith(open, corpusOf(files), toPath());
    const refresh = answers.refresh().catch((error: unknown) => error);

    await answers.close();

    expect(await refresh).toBeInstanceOf(DOMException);
  });
});
