import { Worker } from 'node:worker_threads';
import type { ThreadSetting } from './messages.ts';

/** A thread that can be talked to: of `Worker`, what is needed here. */
export type Thread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>;

/** Starts a thread; throws where the system has none left. */
export type StartThread = (setting: ThreadSetting) => Thread;

/**
 * The most memory of a thread's heap. A file that needs more to be parsed ends its thread, not the
 * process.
 */
const maxHeapMiB = 384;

/** Starts a thread of the answers. */
export const startThread: StartThread = (setting) =>
  new Worker(new URL(isSource() ? './thread.ts' : './thread.js', import.meta.url), {
    ...(isSource() ? { execArgv: ['--import', toLoader()] } : {}),
    name: 'perch answers',
    workerData: setting,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  });

const isSource = () => import.meta.url.endsWith('.ts');

/** Node 20 reads no TypeScript, and a thread does not inherit the loader that its process has. */
function toLoader(): string {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const register = `import { register } from ${loader}; register();`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}
