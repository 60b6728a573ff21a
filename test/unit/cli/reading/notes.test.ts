import { expect, it } from 'vitest';
import { createOutput } from '../../../../src/cli/output/output.ts';
import { createNotePrinter, type Note, withNoteFolder } from '../../../../src/cli/reading/notes.ts';
import type { Tombstone } from '../../../../src/model/post.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../../../support/stub-provider.ts';

const gone: Tombstone = {
  type: 'tombstone',
  id: '21',
  url: null,
  text: 'This post was deleted.',
  reason: 'deleted',
  author: null,
  context: null,
  platform: 'x',
};

const page = { fetchedAt: '2026-11-21T00:00:00Z', source: 'fxtwitter', full: false };

it('saves a note for each post that can be shown, and counts the others', async () => {
  const saved: Note[] = [];
  let skipped = 0;
  const notes = {
    save: async (note: Note) => void saved.push(note),
    skip: () => {
      skipped += 1;
    },
  };
  const repost = stubPost('20', { reposted_by: stubAccount('gull') });

  await createNotePrinter({ hasFeeds: true }, notes).print({
    ...page,
    items: { posts: [repost, gone] },
  });

  expect(saved.map(({ name }) => name)).toEqual(['wren (@wren) Post 20 20.md']);
  expect(saved[0]?.text).toContain('\nurl: https://x.com/wren/status/20\n');
  expect(saved[0]?.text).not.toContain('Reposted by');
  expect(skipped).toBe(1);
});

it('prints the number of posts without a note', async () => {
  const folder = `${temporaryFolder()}/notes`;
  let printed = '';
  const stdout = createOutput({ write: (text) => (printed += text) });

  await withNoteFolder(folder, stdout, async (notes) => {
    if (notes === null) throw new Error('The folder was not opened.');
    await createNotePrinter({ hasFeeds: true }, notes).print({
      ...page,
      items: { posts: [stubPost('20'), gone] },
    });
  });

  expect(printed).toBe(
    `1 note written to ${folder} (1 new, 0 updated), 0 unchanged, 1 unavailable post left out\n`,
  );
});
