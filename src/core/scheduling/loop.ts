export interface Loop {
  /**
   * Calls `run` once, after the current iteration of the event loop. `lengthMs` is the time in milliseconds from the
   * call of `nextPass` to the next iteration. The call of `run` can be delayed further; `lengthMs` does not include
   * this delay.
   */
  nextPass(run: (lengthMs: number) => void): void;
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

const maxAccepting = 16; // maximum number of consecutive event loop iterations that only accept connections

/**
 * Creates a scheduler that defers work while new connections arrive. Node accepts only one connection in each
 * iteration of the event loop, so work in these iterations would delay the acceptance of further connections.
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
