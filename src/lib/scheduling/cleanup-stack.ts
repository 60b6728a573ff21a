import { once } from '../once.ts';

export type CleanupStack = ReturnType<typeof createCleanupStack>;

/** Creates a stack of resources that closes them in the reverse order of their opening. */
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
  return {
    add: (close: () => unknown) => void opened.push(close),
    /** Closes all, even if some fail; throws the first error. Later calls return this promise. */
    close: once(closeAll),
  };
}
