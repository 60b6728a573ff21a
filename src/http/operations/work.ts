/** Count of the work in flight, so that a shutdown can wait for it. */
export type Work = ReturnType<typeof createWork>;

export function createWork() {
  let inFlight = 0;
  return {
    get inFlight() {
      return inFlight;
    },
    /** Counts a piece of work until it has succeeded or failed. */
    track: async <Value>(work: Promise<Value>): Promise<Value> => {
      inFlight += 1;
      try {
        return await work;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
