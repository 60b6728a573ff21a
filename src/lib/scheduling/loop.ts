export interface Loop {
  /** Calls `run` once after this loop iteration. `lengthMs`: time until the next one begins. */
  nextPass(run: (lengthMs: number) => void): void;
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

const maxAccepting = 16; // maximum number of consecutive event loop iterations that only accept connections

/** Creates a scheduler that lets connections pass first, as Node accepts one per iteration. */
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
