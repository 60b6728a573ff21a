import { MessageChannel } from 'node:worker_threads';
import { serveThread } from '../../src/answers/worker/serve-thread.ts';
import type { StartThread, Thread } from '../../src/answers/worker/thread-client.ts';

/**
 * Runs the worker code for answers in this thread behind a message channel. Messages are copied as between
 * threads, but without the second that a worker needs to load TypeScript.
 */
export const startChannelThread: StartThread = (options) => {
  const { port1, port2 } = new MessageChannel();
  serveThread(port2, options);
  const on = (event: string, listener: () => void) => {
    if (event === 'message') port1.on('message', listener);
    if (event === 'exit') port1.on('close', listener);
  };
  return {
    on: on as Thread['on'],
    postMessage: (request) => port1.postMessage(request),
    terminate: async () => {
      port1.close();
      return 0;
    },
  };
};
