import { openArchiveStore } from '../../archive/store/store.ts';
import { lowerPriority } from '../../lib/entry-point.ts';
import type { Answers, QueryKind } from '../../model/queries.ts';
import { type ReaderMessage, type ReaderOptions, type ReadRequest, toFailure } from './messages.ts';
import { type ArchiveReads, createReads } from './reads.ts';

// Entry point of a process that reads the archive for the server. Its argument is `ReaderOptions`
// as JSON.

const send = (message: ReaderMessage): void => void process.send?.(message);

function serve(): void {
  // The server ends this process after its own last read. Service managers send these signals to
  // every process.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit(0));
  const { path, baseUrl, sample }: ReaderOptions = JSON.parse(process.argv[2] ?? '');
  const reads = createReads(openArchiveStore(path, baseUrl), sample);
  process.on('message', (request: ReadRequest) => send(read(reads, request)));
  send({ kind: 'ready' });
}

function read(reads: ArchiveReads, { kind, query }: ReadRequest): ReaderMessage {
  try {
    const answer = reads[kind] as (of: typeof query) => Answers[QueryKind]['found'];
    return { kind: 'found', found: answer(query) };
  } catch (error) {
    return { kind: 'failed', failure: toFailure(error) };
  }
}

lowerPriority();
try {
  serve();
} catch (error) {
  send({ kind: 'failed', failure: toFailure(error) });
  process.disconnect();
}
