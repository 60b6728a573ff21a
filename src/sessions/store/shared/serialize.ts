/** Function that runs `work`. Calls with the same session id run one after another, in the order of the calls. */
export type Serialize = <Value>(id: string, work: () => Promise<Value>) => Promise<Value>;

/**
 * Creates a function that runs the tasks of one session one after another, in the order of the calls. Tasks of
 * different sessions can run at the same time.
 */
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
