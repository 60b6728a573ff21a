import { expect, it } from 'vitest';
import { createOutput } from '../../../../src/cli/output/output.ts';
import { createReadProgress } from '../../../../src/cli/reading/print.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { stubPost } from '../../../support/stub-provider.ts';

const posts = (count: number) => Array.from({ length: count }, (_, id) => stubPost(String(id)));

function openProgress(isTTY: boolean) {
  const written: string[] = [];
  const clock = createManualClock();
  const stderr = createOutput({ isTTY, write: (text) => written.push(text) });
  return { written, clock, progress: createReadProgress(stderr, clock) };
}

it('shows posts, pages and the elapsed time in one line of a terminal', async () => {
  const { written, clock, progress } = openProgress(true);

  progress.addPage({ items: { posts: posts(1) } });
  await clock.advance(125_900);
  progress.addPage({ items: { posts: posts(1100) } });

  expect(written).toEqual([
    '\rperch: 1 post, 1 page, 0 s\u001b[K',
    '\rperch: 1,101 posts, 2 pages, 2 min 5 s\u001b[K',
  ]);
});

it('counts accounts, and a profile without posts', async () => {
  const { written, clock, progress } = openProgress(true);

  progress.addPage({ items: null });
  await clock.advance(1000);
  progress.addPage({ items: { users: posts(2).map(({ author }) => author) } });

  expect(written).toEqual([
    '\rperch: 0 posts, 1 page, 0 s\u001b[K',
    '\rperch: 2 accounts, 2 pages, 1 s\u001b[K',
  ]);
});

it('updates the line up to ten times per second', async () => {
  const { written, clock, progress } = openProgress(true);

  for (let page = 0; page < 1000; page += 1) {
    progress.addPage({ items: { posts: posts(1) } });
    await clock.advance(1);
  }

  expect(written).toHaveLength(10);
});

it('prints nothing elsewhere', () => {
  const { written, progress } = openProgress(false);

  progress.addPage({ items: { posts: posts(1) } });

  expect(written).toEqual([]);
});
