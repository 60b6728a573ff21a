export type Closing = ReturnType<typeof createClosing>;

/** Creates a list of resources that are closed in the reverse order of their opening. */
export function createClosing() {
  const opened: (() => unknown)[] = [];
  const closeAll = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };
  let closed: Promise<void> | undefined;
  return {
    /** Registers how to close a resource that has just been opened. */
    add: (close: () => unknown) => void opened.push(close),
    /**
     * Closes everything, once. A resource that cannot be closed keeps no other one open.
     *
     * @throws the first error, after everything has been tried
     */
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
