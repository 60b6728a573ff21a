/** Runs work on one session at a time, in the order of the calls. */
export type Serialize = <Value>(id: string, work: () => Promise<Value>) => Promise<Value>;

/** Creates a queue for each session, so that the changes of this instance do not overtake each other. */
export function createSerializer(): Serialize {
  const last = new Map<string, Promise<unknown>>();
  return (id, work) => {
    const before = last.get(id) ?? Promise.resolve();
    const result = before.then(work, work);
    last.set(id, result);
    const forget = () => {
      if (last.get(id) === result) last.delete(id);
    };
    result.then(forget, forget);
    return result;
  };
}
