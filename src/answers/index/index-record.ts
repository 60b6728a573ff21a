import type { Clock } from '../../core/clock.ts';
import type { RefreshSummary } from './index-refresher.ts';
import type { RefreshProgress } from './refresh.ts';

/** State of the search index for answers. Times are epoch milliseconds. */
export interface IndexState {
  /** Progress of the running update; `null` if no update is running. */
  readonly progress: RefreshProgress | null;
  /** Result of the last complete update; `null` before the first complete update. */
  readonly current: (RefreshSummary & { readonly atMs: number }) | null;
  /** Last error since the last complete update; `null` if there was no error. */
  readonly failure: { readonly message: string; readonly atMs: number } | null;
}

export type IndexRecord = ReturnType<typeof createIndexRecord>;

/** Creates a record of the state of the search index, with the callbacks that update the record. */
export function createIndexRecord(clock: Pick<Clock, 'now'>) {
  let state: IndexState = { progress: null, current: null, failure: null };
  return {
    read: (): IndexState => state,
    onProgress: (progress: RefreshProgress): void => {
      state = { ...state, progress };
    },
    onRefreshed: (summary: RefreshSummary): void => {
      state = { progress: null, current: { ...summary, atMs: clock.now() }, failure: null };
    },
    onError: (error: unknown): void => {
      const message = error instanceof Error ? error.message : String(error);
      state = { ...state, progress: null, failure: { message, atMs: clock.now() } };
    },
  };
}
