import type { MessagePort } from 'node:worker_threads';
import type { ExtractiveEngine } from '../engine/extractive-engine.ts';
import { openPassageIndex, type PassageIndex } from '../index/passage-index.ts';
import {
  type TaskKind,
  type ThreadOptions,
  type ThreadReply,
  type ThreadRequest,
  type ThreadTasks,
  toFailure,
} from './thread-client.ts';

type TaskContext<Report> = Readonly<{ signal: AbortSignal; report: (report: Report) => void }>;

type TaskHandler<Task extends ThreadTasks[TaskKind]> = (
  input: Task['input'],
  context: TaskContext<Task['report']>,
) => Promise<Task['result']>;

/** Runs the tasks that arrive at a port. `close` stops them, and closes the index and the port. */
export function serveThread(port: MessagePort, options: ThreadOptions): void {
  const { handlers, closeIndex } = createHandlers(options);
  const running = new Map<number, { readonly stop: AbortController; ended: Promise<void> }>();
  const send = (reply: ThreadReply) => port.postMessage(reply);
  const run = async (id: number, work: () => Promise<unknown>) => {
    try {
      send({ kind: 'done', id, result: await work() });
    } catch (error) {
      send({ kind: 'failed', id, failure: toFailure(error) });
    } finally {
      running.delete(id);
    }
  };
  const close = async () => {
    for (const { stop } of running.values()) stop.abort();
    await Promise.all([...running.values()].map(({ ended }) => ended));
    closeIndex();
    port.close();
  };
  port.on('message', (request: ThreadRequest) => {
    if (request.kind === 'close') void close();
    else if (request.kind === 'stop') running.get(request.id)?.stop.abort();
    else {
      const { id, kind, input } = request;
      const task = { stop: new AbortController(), ended: Promise.resolve() };
      running.set(id, task);
      // The client sends each task with the input of its kind.
      const work = handlers[kind] as (
        input: unknown,
        context: TaskContext<unknown>,
      ) => Promise<unknown>;
      const report = (value: unknown) => send({ kind: 'report', id, report: value });
      task.ended = run(id, () => work(input, { signal: task.stop.signal, report }));
    }
  });
}

function createHandlers({ corpora, path }: ThreadOptions) {
  let index: PassageIndex | undefined;
  let engine: ExtractiveEngine | undefined;
  const open = (): PassageIndex => {
    index ??= openPassageIndex(path);
    return index;
  };
  const openEngine = async (): Promise<ExtractiveEngine> => {
    const { createExtractiveEngine } = await import('../engine/extractive-engine.ts');
    engine ??= createExtractiveEngine(open(), corpora);
    return engine;
  };
  const handlers: { readonly [Kind in TaskKind]: TaskHandler<ThreadTasks[Kind]> } = {
    open: async () => {
      await openEngine();
      return open().isBuiltFor(corpora);
    },
    refresh: async ({ skip }, { signal, report }) => {
      const { refreshIndex } = await import('../index/refresh.ts');
      const progress = await refreshIndex({
        index: open(),
        corpora,
        signal,
        skip: new Set(skip),
        onFolder: (absolute) => report({ kind: 'folder', absolute }),
        onReading: (absolute) => report({ kind: 'reading', absolute }),
        onProgress: (progress) => report({ kind: 'progress', progress }),
      });
      return { ...progress, passages: open().totals().passages };
    },
    answer: async (question, { signal, report }) =>
      (await openEngine()).answer(question, { signal, onText: report }),
    find: async (question) => (await openEngine()).passages.find(question),
    isCurrent: async (passage) => (await openEngine()).passages.isCurrent(passage),
  };
  return { handlers, closeIndex: () => index?.close() };
}
