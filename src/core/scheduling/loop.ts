/** The event loop, as turns see it. */
export interface Loop {
  /** Calls `run` in a later pass, with the length in milliseconds of the pass in which it was asked to. */
  nextPass(run: (lengthMs: number) => void): void;
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

/** Maximum number of passes in a row that only accept connections. */
const maxAccepting = 16;

/**
 * Creates the event loop of a server. Node accepts one connection per pass, so passes follow without further work
 * while connections arrive: a client that opens many does not delay the others.
 */
export function createServerLoop() {
  let connections = 0;
  return {
    /** Records that a connection was accepted. */
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
