import type { Clock } from '../../core/clock.ts';
import type { BrowseResult } from '../../model/results.ts';
import type { Output } from '../output/output.ts';
import { countOf, toElapsed } from '../output/table.ts';

const everyMs = 100;

export function createReadProgress(stderr: Output, clock: Clock) {
  const begunMs = clock.now();
  let dueMs = begunMs;
  let items = 0;
  let pages = 0;
  return {
    addPage: ({ items: found }: Pick<BrowseResult, 'items'>) => {
      items += Object.values(found ?? {}).flat().length;
      pages += 1;
      const nowMs = clock.now();
      if (nowMs < dueMs) return;
      dueMs = nowMs + everyMs;
      const noun = found !== null && 'users' in found ? 'account' : 'post';
      const counts = `${countOf(items, noun)}, ${countOf(pages, 'page')}`;
      stderr.showLine(`perch: ${counts}, ${toElapsed(nowMs - begunMs)}`);
    },
  };
}
