import type { PlacedPost } from './ordering.ts';
import type { WalkEnd, WalkOptions } from './walk.ts';
import { Walking } from './walking.ts';

/**
 * Walks the posts of an account in a range of time, many pages at once where the source can be entered
 * at any moment, and yields them in the order of the timeline, newest first, each once.
 *
 * What is unread is cut into ranges of about a page; each is read by a chain of pages of which each
 * begins where the one before it ended, so that nothing is between them. A range that is denser than
 * expected is cut again; pages that reach further spare the ranges that they reach into.
 *
 * @throws Problem, see ProviderChain.ask, where nothing was found before it failed
 */
export async function* walkHistory(
  options: WalkOptions,
): AsyncGenerator<readonly PlacedPost[], WalkEnd> {
  const walking = new Walking(options);
  try {
    while (!walking.isOver) {
      const posts = walking.release();
      if (posts.length > 0) {
        yield posts;
        walking.resume();
      } else {
        await walking.progress();
      }
    }
    const last = await walking.settle();
    if (last.length > 0) yield last;
    return walking.finish();
  } finally {
    walking.stop();
    await options.onWalked?.(walking.walked());
  }
}
