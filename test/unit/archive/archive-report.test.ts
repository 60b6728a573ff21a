import { expect, it, onTestFinished } from 'vitest';
import { createArchiveReporter, reportLimits } from '../../../src/archive/report/archive-report.ts';
import { openArchiveStore } from '../../../src/archive/store/store.ts';
import { fillArchive } from '../../support/imported-archive.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';
import { stubAccount } from '../../support/stub-provider.ts';

function openReporter(folder: string) {
  const reporter = createArchiveReporter(`${folder}/archive.db`);
  onTestFinished(() => reporter.close());
  return reporter;
}

it('reports nothing without a database, and creates no file', async () => {
  const reporter = openReporter(temporaryFolder());

  expect(await reporter.read()).toBeNull();
  expect(await reporter.read()).toBeNull();
  expect(await createArchiveReporter(':memory:').read()).toBeNull();
});

it('reports accounts with their posts, imports, and the size of the database', async () => {
  const folder = temporaryFolder();
  fillArchive(folder, ['x', 'bluesky']);
  const store = openArchiveStore(`${folder}/archive.db`, '');
  onTestFinished(() => store.close());
  const reporter = openReporter(folder);

  const before = await reporter.read();
  for (const name of ['first.zip', 'second.zip']) {
    store.beginImport({ fingerprint: name, title: 'X export', name, exported: 5 }, 100);
  }
  const after = await reporter.read();

  expect(before).toMatchObject({ accountCount: 2, imports: [], historyPosts: 0 });
  expect(before?.bytes).toBeGreaterThan(10_000);
  expect(before?.accounts).toMatchObject([
    { platform: 'bluesky', handle: 'heron_bluesky', posts: 3 },
    { platform: 'x', handle: 'heron_x', posts: 3 },
  ]);
  expect(after?.imports.map(({ name }) => name)).toEqual(['second.zip', 'first.zip']);
});

it('lists a bounded number of accounts, and counts all of them', async () => {
  const folder = temporaryFolder();
  const store = openArchiveStore(`${folder}/archive.db`, '');
  onTestFinished(() => store.close());
  store.transact(() => {
    for (let at = 0; at < reportLimits.accounts + 5; at += 1) {
      store.putAccount({ account: { ...stubAccount(`a${at}`), platform: 'x' }, stored: 1 });
    }
  });

  const report = await openReporter(folder).read();

  expect(report?.accounts.length).toBe(reportLimits.accounts);
  expect(report?.accountCount).toBe(reportLimits.accounts + 5);
});
