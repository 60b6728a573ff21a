export type Work = ReturnType<typeof createWork>;

export function createWork() {
  let inFlight = 0;
  return {
    get inFlight() {
      return inFlight;
    },
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
