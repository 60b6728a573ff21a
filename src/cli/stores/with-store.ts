import { type CommandContext, CommandError, type ExitCode, UsageError } from '../command.ts';

/** Closes the store after `use`. @throws CommandError for errors that `explain` recognizes */
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

/** Returns the data directory. @throws UsageError, naming `what`, if it is `:memory:` */
export function dataFolderOf({ config }: CommandContext, what: string): string {
  const { PERCH_DATA_DIR: folder } = config;
  if (folder !== ':memory:') return folder;
  throw new UsageError(
    `PERCH_DATA_DIR is :memory:, so ${what} would be lost when the command ends. Set it to a folder.`,
  );
}
