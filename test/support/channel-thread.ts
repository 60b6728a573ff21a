import { MessageChannel } from 'node:worker_threads';
import { serveThread } from '../../src/answers/worker/serve-thread.ts';
import type { StartThread, Thread } from '../../src/answers/worker/thread-client.ts';

/**
 * Starts what a thread of the answers does in this one, behind a message channel: what is sent is
 * copied as between threads, without the second that a thread needs to load TypeScript.
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
