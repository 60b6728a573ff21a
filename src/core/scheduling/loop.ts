export interface Loop {
  /** Calls `run` in a later pass of the event loop, with the duration of the current pass in milliseconds. */
  nextPass(run: (lengthMs: number) => void): void;
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

const maxAccepting = 16; // maximum number of consecutive passes that only accept connections

/**
 * Creates the event loop of a server. Node accepts one connection per pass, so other work is deferred while connections
 * arrive. A client that opens many connections therefore does not delay others.
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
