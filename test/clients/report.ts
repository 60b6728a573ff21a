/** Runs checks in turn and prints a line for each. */
export interface Report {
  /** Rejects after a failed check is printed, because later checks would fail for the same reason. */
  check<Value>(name: string, run: () => Promise<Value>): Promise<Value>;
}

/** Timeout of a check in milliseconds. Clients wait forever for a missing event. */
const deadlineMs = 120_000;

/** Creates a report whose lines start with a title. */
export function createReport(title: string): Report {
  return {
    check: async (name, run) => {
      try {
        const value = await inTime(run());
        console.log(`ok      ${title}: ${name}`);
        return value;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        console.log(`FAILED  ${title}: ${name}: ${reason}`);
        throw error;
      }
    },
  };
}

function inTime<Value>(run: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`timeout after ${deadlineMs / 1000} seconds`));
    const timer = setTimeout(fail, deadlineMs);
    run.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
