import { openArchiveStore } from '../../src/archive/store/store.ts';
import type { openReaderProcesses } from '../../src/providers/archive/index.ts';
import { createReads } from '../../src/providers/archive/reads.ts';

/** Opens a reader of the archive in this thread, because starting a process for each test takes too long. */
export const openReaderHere: typeof openReaderProcesses = ({ path, baseUrl, sample }) => {
  const store = openArchiveStore(path, baseUrl);
  const reads = createReads(store, sample);
  return { read: async (kind, query) => reads[kind](query), close: () => store.close() };
};
