import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ndjsonFormat } from '../../../../src/archive/imports/ndjson/ndjson-format.ts';
import type { Post, Status } from '../../../../src/model/post.ts';
import { importExport } from '../../../support/exports/import-export.ts';
import { openSource } from '../../../support/exports/read-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../../../support/stub-provider.ts';
import { ask, openRig } from '../store/archive-rig.ts';

const wren = { ...stubAccount('Wren'), description: 'Small bird, loud.' };
const robin = stubAccount('robin');
const start = 1_767_225_600;

/** Returns a post of the given second after the start. */
function postAt(second: number, more: Partial<Status> = {}): Status {
  const created_timestamp = start + second;
  const created_at = new Date(created_timestamp * 1000).toISOString();
  return stubPost(String(1000 + second), { author: wren, created_at, created_timestamp, ...more });
}

/** The repost has only the handle of the account. */
const repost = postAt(10, { author: robin, reposted_by: stubAccount('Wren') });
const answer = postAt(30, {
  replying_to: { screen_name: 'Wren', status: '1020', url: 'https://x.com/Wren/status/1020' },
});

/** In timeline order, newest first, with reposts between the posts. */
const history: readonly Status[] = [
  repost,
  postAt(40),
  answer,
  postAt(11, { author: robin, reposted_by: stubAccount('Wren') }),
  postAt(12, { author: robin, reposted_by: stubAccount('Wren') }),
  postAt(20),
];

const meta = { meta: { handle: 'Wren', count: history.length } };
const tag = (post: Post) => ({ post });

function writeLines(...lines: readonly unknown[]): string {
  const path = `${temporaryFolder()}/wren.ndjson`;
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

describe('a history that was saved as NDJSON', () => {
  it.each([
    ['with tagged lines', history.map(tag)],
    ['with plain posts', history],
  ])('is imported %s', async (_, lines) => {
    const { store, archive } = openRig();

    const { outcome, skipped } = await importExport(store, writeLines(...lines, meta));

    expect(outcome).toMatchObject({ ended: 'done', isCutOff: false });
    expect(outcome.counts).toMatchObject({ accounts: 1, posts: 6, reposts: 3, faults: 0 });
    expect(skipped).toEqual([]);
    const { account } = await ask(archive).profile('wren');
    expect(account).toEqual(wren);
    const { items } = await ask(archive).timeline('wren');
    expect(items.map(({ id }) => id)).toEqual(history.map(({ id }) => id));
    expect(items).toEqual(
      history.map((post) => (post.reposted_by === null ? post : { ...post, reposted_by: wren })),
    );
    const replies = store.readReplies(postAt(20)).map(({ post }) => post.id);
    expect(replies).toEqual(['1030']);
  });

  it('belongs to the reposting account if it has only reposts', async () => {
    const { store, archive } = openRig();

    const { outcome } = await importExport(store, writeLines(tag(repost), meta));

    expect(outcome.counts).toMatchObject({ accounts: 1, posts: 1, reposts: 1 });
    const { items } = await ask(archive).timeline('wren');
    expect(items.map(({ id }) => id)).toEqual(['1010']);
  });

  it('resumes with the same account after a stop', async () => {
    const many = Array.from({ length: 1200 }, (_, index) => tag(postAt(9000 - index)));
    const path = writeLines(...many, meta);
    const { store } = openRig();

    const first = await importExport(store, path, { stopAfter: 1 });
    const second = await importExport(store, path);

    expect(first.outcome.ended).toBe('stopped');
    expect(second.outcome).toMatchObject({ ended: 'done', counts: { accounts: 1, posts: 1200 } });
    expect(second.outcome.resumedAfter).toBeGreaterThan(0);
  });

  it('counts the bytes read', async () => {
    const path = writeLines(...history.map(tag), meta);
    const source = await openSource(ndjsonFormat, path);
    if (source === null) throw new Error('This is no history.');

    for await (const group of source.groups()) expect(group.length).toBeGreaterThanOrEqual(0);
    await source.close();

    expect(source.bytesRead).toBe(source.totalBytes);
    expect(source.totalBytes).toBeGreaterThan(1000);
  });

  it.each<[string, readonly unknown[], string]>([
    ['ends early', [], 'The last line, which says how the history ended, is missing.'],
    [
      'failed on the way',
      [{ error: { code: 'upstream_unavailable', detail: 'The source could not be reached.' } }],
      'The history ended early: The source could not be reached.',
    ],
  ])('is truncated if it %s', async (_, ends, why) => {
    const { store } = openRig();

    const { outcome, skipped } = await importExport(
      store,
      writeLines(...history.map(tag), ...ends),
    );

    expect(outcome).toMatchObject({ isCutOff: true, counts: { posts: 6, faults: 1 } });
    expect(skipped.map((one) => one.reason)).toEqual([why]);
  });

  it('is imported without unreadable lines', async () => {
    const { store } = openRig();
    const lines = [tag(postAt(1)), { later: true }, { post: { id: 7 } }, meta, tag(postAt(0))];

    const { outcome, skipped } = await importExport(store, writeLines(...lines));

    expect(outcome.counts).toMatchObject({ posts: 1, faults: 2 });
    expect(skipped.map(({ location, reason }) => `${location}: ${reason}`)).toEqual([
      'wren.ndjson, line 3: It does not have the expected structure.',
      'wren.ndjson, line 5: It follows the end of a history. Import each history from its own file.',
    ]);
  });

  it.each([
    ['an index', { post: { id: '1', url: 'https://x.com/i/status/1' } }, 'contains no posts'],
    [
      'of the sample',
      tag(postAt(1, { author: { ...wren, platform: 'sample' }, platform: 'sample' })),
      'which every archive contains',
    ],
  ])('is rejected if it is %s', async (_, line, message) => {
    await expect(importExport(openRig().store, writeLines(line, meta))).rejects.toThrow(message);
  });
});
