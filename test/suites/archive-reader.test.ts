import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { SearchQuery } from '../../src/model/queries.ts';
import { openReaderProcesses } from '../../src/providers/archive/index.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openReaderHere } from '../support/reader-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { failureOf } from './provider-suite.ts';

const baseUrl = 'https://perch.example';
const { signal } = new AbortController();
const account = { platform: 'x', handle: 'heron_x' } as const;
const list = { account, cursor: null, count: 2 };
const search: SearchQuery = {
  kind: 'search',
  platform: 'archive',
  text: 'heron gate',
  feed: 'top',
  sinceSeconds: null,
  untilSeconds: null,
  cursor: null,
  count: 2,
};

/** Returns the script of the readers in the sources, from which other tests start nothing: see vitest.config.ts. */
async function sourceOfReaders() {
  const { href } = new URL('../../src/lib/entry-point.ts', import.meta.url);
  const { entryPoint }: typeof import('../../src/lib/entry-point.ts') = await import(href);
  return entryPoint('reader-process', import.meta.resolve('../../src/providers/archive/index.ts'));
}

async function openReader() {
  const folder = temporaryFolder();
  fillArchive(folder, ['x', 'bluesky', 'mastodon']);
  const options = { path: `${folder}/archive.db`, sample: false, baseUrl, clock: systemClock };
  const script = await sourceOfReaders();
  const there = openReaderProcesses({ ...options, script });
  const readers = { there, here: openReaderHere(options) };
  onTestFinished(() => {
    readers.there.close();
    readers.here.close();
  });
  return readers;
}

/** Opens a reader whose processes run `script` instead of reading an archive. */
function openMade(script: string, clock = createManualClock()) {
  const path = `${temporaryFolder()}/made.mjs`;
  writeFileSync(path, script);
  const made = { url: pathToFileURL(path), execArgv: [] };
  const reader = openReaderProcesses({ path: '', sample: false, baseUrl, clock, script: made });
  onTestFinished(() => reader.close());
  return reader;
}

const found = `{ kind: 'found', found: { items: [], cursor: null, warnings: [String(process.pid)] } }`;

describe('a reader process of the archive', () => {
  it('answers every kind of query as the archive does', async () => {
    const { there, here } = await openReader();
    const post = { ...account, id: '22' };
    const timeline = { kind: 'timeline', withReplies: true, withReposts: true } as const;
    const asks = [there, here].map(({ read }) => [
      read('post', { kind: 'post', post, thread: true, replies: 'top' }, { signal }),
      read('replies', { kind: 'replies', post, order: 'top', cursor: null, count: 2 }, { signal }),
      read('profile', { kind: 'profile', account }, { signal }),
      read('timeline', { ...list, ...timeline, untilSeconds: null }, { signal }),
      read('followers', { ...list, kind: 'followers' }, { signal }),
      read('following', { ...list, kind: 'following' }, { signal }),
      read('search', search, { signal }),
      read('searchUsers', { ...search, kind: 'searchUsers' }, { signal }),
    ]);
    const [ofProcess, expected] = await Promise.all(asks.map((all) => Promise.all(all)));

    expect(ofProcess).toEqual(expected);
    expect(expected?.[6]).toMatchObject({ items: [{}, {}] });
  });

  it('fails as the archive does', async () => {
    const { there, here } = await openReader();
    const nobody = { kind: 'profile', account: { ...account, handle: 'nobody' } } as const;
    const failures = [there, here].map(({ read }) => [
      failureOf(read('profile', nobody, { signal })),
      failureOf(read('search', { ...search, cursor: '?' }, { signal })),
    ]);
    const [ofProcess, expected] = await Promise.all(failures.map((all) => Promise.all(all)));

    expect(ofProcess).toEqual(expected);
    expect(expected).toMatchObject([
      { kind: 'ambiguous', isEvidence: false },
      { kind: 'malformed' },
    ]);
  });

  it('reports the error of a database that cannot be opened', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    writeFileSync(path, 'This is no database.');
    const reader = openReaderProcesses({ path, sample: false, baseUrl, clock: systemClock });
    onTestFinished(() => reader.close());

    const read = reader.read('search', search, { signal });
    await expect(read).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
  });

  it('is killed when a read takes too long, and another one reads on', async () => {
    const clock = createManualClock();
    const reader = openMade(
      `process.send({ kind: 'ready' });
      process.on('message', ({ query }) => {
        if (query.text === 'slow') for (;;);
        process.send(${found});
      });`,
      clock,
    );
    const first = await reader.read('search', search, { signal });
    const slow = failureOf(reader.read('search', { ...search, text: 'slow' }, { signal }));
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3000);

    expect(await slow).toMatchObject({ kind: 'unavailable', isProviderWide: false });
    const second = await reader.read('search', search, { signal });
    expect(second.warnings).not.toEqual(first.warnings);
  });

  it('does not fail the reads that follow when it ends', async () => {
    const reader = openMade(`process.send({ kind: 'ready' });
      process.on('message', ({ query }) => {
        if (query.text === 'crash') process.exit(1);
        process.send(${found});
      });`);

    const crash = failureOf(reader.read('search', { ...search, text: 'crash' }, { signal }));
    expect(await crash).toMatchObject({ kind: 'unavailable', isProviderWide: false });
    expect(await reader.read('search', search, { signal })).toMatchObject({ items: [] });
  });

  it('reads for another client while a read of one client takes long', async () => {
    const reader = openMade(`process.send({ kind: 'ready' });
      process.on('message', ({ query }) => {
        if (query.text === 'slow') for (;;);
        process.send(${found});
      });`);
    const of = (address: string) => ({ signal, client: { address, network: null } });
    const slow = failureOf(reader.read('search', { ...search, text: 'slow' }, of('::1')));

    expect(await reader.read('search', search, of('::2'))).toMatchObject({ items: [] });
    reader.close();
    await slow;
  });
});
