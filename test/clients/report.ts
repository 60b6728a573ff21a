/** Runs checks one after the other and tells of each in a line. */
export interface Report {
  /** Rejects where the check fails, after telling of it: what comes next would fail for the same reason. */
  check<Value>(name: string, run: () => Promise<Value>): Promise<Value>;
}

/** A client that waits for an event that never comes waits for ever. */
const deadlineMs = 120_000;

/** Creates a report whose lines begin with a title. */
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
    const fail = () => reject(new Error(`nothing for ${deadlineMs / 1000} seconds`));
    const timer = setTimeout(fail, deadlineMs);
    run.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
