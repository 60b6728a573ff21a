export type CleanupStack = ReturnType<typeof createCleanupStack>;

/** Creates a stack of resources. Closing the stack closes the resources in the reverse order of their opening. */
export function createCleanupStack() {
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
    /** Registers the function that closes a newly opened resource. */
    add: (close: () => unknown) => void opened.push(close),
    /**
     * Closes all resources, even if some fail to close. Later calls return the same promise.
     * @throws the first error
     */
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
