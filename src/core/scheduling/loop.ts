export interface Loop {
  /** Calls `run` in a later event loop iteration, with the duration of the current iteration in milliseconds. */
  nextPass(run: (lengthMs: number) => void): void;
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

const maxAccepting = 16; // maximum number of consecutive event loop iterations that only accept connections

/**
 * Creates a scheduler that defers work while new connections arrive. Node accepts one connection per event loop
 * iteration, so a client that opens many connections would otherwise delay other clients.
 */
export function createServerLoop() {
  let connections = 0;
  return {
    noteConnection: () => {
      connections += 1;
    },
    nextPass: (run: (lengthMs: number) => void): void => {
      const begin = performance.now();
      const wait = (acceptingLeft: number, knownMs?: number): void => {
        const before = connections;
        setImmediate(() => {
          const lengthMs = knownMs ?? performance.now() - begin;
          if (connections === before || acceptingLeft === 0) run(lengthMs);
          else wait(acceptingLeft - 1, lengthMs);
        });
      };
      wait(maxAccepting);
    },
  };
}
