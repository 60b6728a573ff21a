import type { ServerResponse } from 'node:http';
import type { StreamSink } from './stream-reader.ts';

/** Makes the sink of an HTTP response whose headers are sent. */
export function createResponseSink(response: ServerResponse): StreamSink {
  let isGone = response.destroyed || response.socket?.destroyed === true;
  let flushed: (() => void) | null = null;
  const goOn = (): void => {
    const resume = flushed;
    flushed = null;
    resume?.();
  };
  response.on('error', goOn);
  response.on('close', () => {
    isGone = true;
    goOn();
  });
  return {
    get isGone() {
      return isGone;
    },
    whenGone: (callback) => {
      if (isGone) callback();
      else response.once('close', callback);
    },
    write: (bytes) =>
      new Promise((resolve) => {
        if (isGone) {
          resolve();
          return;
        }
        flushed = resolve;
        response.write(bytes, goOn);
      }),
    end: () => void response.end(),
    cut: () => void response.destroy(),
  };
}
