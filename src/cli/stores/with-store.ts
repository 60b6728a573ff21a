import { type CommandContext, CommandError, type ExitCode, UsageError } from '../command.ts';

/**
 * Opens a store (a database), calls `use` with the store, and closes the store.
 * @throws CommandError if the store fails
 * @param explain Function that returns the message for an error of the store; `null` for any other
 * error
 */
export async function withStore<Store extends { close(): void | Promise<void> }>(
  open: () => Store | Promise<Store>,
  explain: (error: unknown) => string | null,
  use: (store: Store) => Promise<ExitCode>,
): Promise<ExitCode> {
  let store: Store | null = null;
  try {
    store = await open();
    return await use(store);
  } catch (error) {
    const fault = explain(error);
    if (fault === null) throw error;
    throw new CommandError('upstream', fault, { cause: error });
  } finally {
    await store?.close();
  }
}

/**
 * Returns the path of the data directory. `what` names the data in the error message.
 * @throws UsageError if data is kept only in memory (`PERCH_DATA_DIR` is `:memory:`)
 */
export function dataFolderOf({ config }: CommandContext, what: string): string {
  const { PERCH_DATA_DIR: folder } = config;
  if (folder !== ':memory:') return folder;
  throw new UsageError(
    `PERCH_DATA_DIR is :memory:, so ${what} would be lost when the command ends. Set it to a folder.`,
  );
}
