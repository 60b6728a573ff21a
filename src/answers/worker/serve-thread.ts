import type { MessagePort } from 'node:worker_threads';
import type { ExtractiveEngine } from '../engine/extractive-engine.ts';
import { openPassageIndex, type PassageIndex } from '../index/passage-index.ts';
import {
  type TaskKind,
  type ThreadOrder,
  type ThreadReport,
  type ThreadSetting,
  type ThreadTasks,
  toFault,
} from './messages.ts';

/** Signal of a task, and the sending of its reports. */
type Live<Told> = Readonly<{ signal: AbortSignal; tell: (told: Told) => void }>;

type Work<Task extends ThreadTasks[TaskKind]> = (
  give: Task['give'],
  live: Live<Task['told']>,
) => Promise<Task['get']>;

/** Runs the tasks that arrive at a port, until it is told to close: then it closes index and port. */
export function serveThread(port: MessagePort, setting: ThreadSetting): void {
  const { works, closeIndex } = createWorks(setting);
  const running = new Map<number, { readonly stop: AbortController; ended: Promise<void> }>();
  const send = (report: ThreadReport) => port.postMessage(report);
  const run = async (id: number, work: () => Promise<unknown>) => {
    try {
      send({ kind: 'done', id, get: await work() });
    } catch (error) {
      send({ kind: 'failed', id, fault: toFault(error) });
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
  port.on('message', (order: ThreadOrder) => {
    if (order.kind === 'close') void close();
    else if (order.kind === 'stop') running.get(order.id)?.stop.abort();
    else {
      const { id, kind, give } = order;
      const task = { stop: new AbortController(), ended: Promise.resolve() };
      running.set(id, task);
      // The client sends each task with the argument of its kind.
      const work = works[kind] as (give: unknown, live: Live<unknown>) => Promise<unknown>;
      const tell = (told: unknown) => send({ kind: 'told', id, told });
      task.ended = run(id, () => work(give, { signal: task.stop.signal, tell }));
    }
  });
}

/** Creates the tasks. Index and engine are opened when they are first needed, and modules loaded then. */
function createWorks({ corpora, path }: ThreadSetting) {
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
  const works: { readonly [Kind in TaskKind]: Work<ThreadTasks[Kind]> } = {
    open: async () => {
      await openEngine();
      return open().isBuiltFor(corpora);
    },
    refresh: async ({ passOver }, { signal, tell }) => {
      const { refreshIndex } = await import('../index/refresh.ts');
      const progress = await refreshIndex({
        index: open(),
        corpora,
        signal,
        passOver: new Set(passOver),
        onFolder: (absolute) => tell({ kind: 'folder', absolute }),
        onReading: (absolute) => tell({ kind: 'reading', absolute }),
        onProgress: (progress) => tell({ kind: 'progress', progress }),
      });
      return { ...progress, passages: open().totals().passages };
    },
    answer: async (question, { signal, tell }) =>
      (await openEngine()).answer(question, { signal, onText: tell }),
    find: async (question) => (await openEngine()).passages.find(question),
    isCurrent: async (passage) => (await openEngine()).passages.isCurrent(passage),
  };
  return { works, closeIndex: () => index?.close() };
}
