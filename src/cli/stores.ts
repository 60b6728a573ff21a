import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { Engine } from '../lib/redis/engine.ts';
import { type CommandContext, CommandError, UsageError } from './command.ts';

/** Closes the store after `use`. @throws CommandError for errors that `explain` recognizes */
export async function withStore<Store extends { close(): void | Promise<void> }, Result>(
  open: () => Store | Promise<Store>,
  explain: (error: unknown) => string | null,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
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

/** Returns `null` without `PERCH_REDIS_URL`. @throws UnusableEngineError if it fails */
export async function openCommandEngine(config: Config): Promise<Engine | null> {
  if (config.PERCH_REDIS_URL === undefined) return null;
  const { openSharedEngine } = await import('../server/wiring/shared-engine.ts');
  const logger = { info: () => {}, error: () => {} };
  const options = { config, logger, clock: systemClock, random: systemRandom };
  return openSharedEngine(options, { isCounted: false });
}
