/** Maximum number of renderings that are kept beside one answer; more are rendered each time. */
const maxViews = 16;

/** Bounds what is rendered of an answer and kept beside it. It lives and dies with the answer in the cache. */
export interface Views {
  /** Returns whether another rendering of so many bytes may be kept, and counts it if so. */
  admit(bytes: number): boolean;
}

/** Creates the bound of one answer. `grow` is called with the bytes of each rendering that is kept. */
export function createViews(grow: (bytes: number) => void): Views {
  let count = 0;
  return {
    admit: (bytes) => {
      if (count >= maxViews) return false;
      count += 1;
      grow(bytes);
      return true;
    },
  };
}

export type KeptViews<Value> = ReturnType<typeof createKeptViews<Value>>;

/** Creates an empty store of renderings of one kind, each under a name beside its answer, with which it goes. */
export function createKeptViews<Value>() {
  const kept = new WeakMap<Views, Map<string, Value>>();
  return {
    get: (views: Views, name: string): Value | undefined => kept.get(views)?.get(name),
    set: (views: Views, name: string, value: Value, bytes: number): void => {
      const values = kept.get(views) ?? new Map<string, Value>();
      if (values.has(name) || !views.admit(bytes)) return;
      kept.set(views, values.set(name, value));
    },
  };
}
