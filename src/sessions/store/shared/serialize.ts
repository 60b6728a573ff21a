/** Function that runs `work` of the same session id one after another, in call order. */
export type Serialize = <Value>(id: string, work: () => Promise<Value>) => Promise<Value>;

/** Creates a function that runs the tasks of one session in turn, and of others concurrently. */
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
