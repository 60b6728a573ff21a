import { existsSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { readBoundedText, UnusableTextError } from '../../lib/files/bounded-text.ts';
import { FileLockedError, lockFile } from '../../lib/files/file-lock.ts';
import { isMissing, syncFolder } from '../../lib/files/private-files.ts';
import { parseJson } from '../../lib/http/json-bodies.ts';
import { CommandError, UsageError } from '../command.ts';
import { explainWriteErrors } from '../output/output.ts';
import { type Memory, maxRemembered } from './poll.ts';

/** State of `perch watch`. `memories` has the known posts by the key of the list. */
export interface State {
  readonly memories: Map<string, Memory>;
  /** Flushes the state file to disk. @throws CommandError if it cannot be written */
  save(): Promise<void>;
  close(): void;
}

const version = 1;
const maxMemories = 200;
const maxBytes = 64 * 1024 * 1024;

const entry = z.tuple([z.string().max(4096), z.int().nullable()]);
const seen = z.array(entry).max(maxRemembered);
const content = z.object({
  perch_watch: z.literal(version),
  lists: z.record(
    z.string().max(4096),
    z.object({ floor: z.int(), seen: seen.transform((pairs) => new Map(pairs)) }),
  ),
});

/** Creates a state that is kept only in memory. */
export const createState = (): State => ({
  memories: new Map(),
  save: async () => {},
  close: () => {},
});

/** Locks the file until `close`; `save` creates it. @throws UsageError if it is unusable */
export function openStateFile(path: string): State {
  if (path === '') throw new UsageError('--state is empty. Set it to a file.');
  const target = existsSync(path) ? realpathSync(path) : path;
  if (!existsSync(dirname(target))) {
    throw new UsageError(`The folder of the state file ${path} does not exist. Create it first.`);
  }
  const lock = lockState(target);
  try {
    const memories = readState(target);
    return {
      memories,
      save: () => save(target, memories),
      close: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function lockState(path: string) {
  try {
    return lockFile(`${path}.lock`);
  } catch (cause) {
    const fault =
      cause instanceof FileLockedError
        ? 'is used by another perch watch. Stop that command, or use another file.'
        : 'cannot be locked. Check that you may write to its folder.';
    throw new UsageError(`The state file ${path} ${fault}`, { cause });
  }
}

function readState(path: string): Map<string, Memory> {
  if (isMissing(path)) return new Map();
  try {
    const json = parseJson(readBoundedText(path, maxBytes));
    const { success, data, error } = content.safeParse(json);
    if (success) return new Map(Object.entries(data.lists));
    const isNewer = z.object({ perch_watch: z.int().gt(version) }).safeParse(json).success;
    const advice = isNewer
      ? 'was written by a newer version of Perch. Update Perch, or use another file.'
      : 'is damaged, or was not written by perch watch. Restore the file, or delete it and use --since to get the posts since a time.';
    throw new UsageError(`The state file ${path} ${advice}`, { cause: error });
  } catch (error) {
    if (!(error instanceof UnusableTextError)) throw error;
    throw new UsageError(`The state file ${path} ${error.reason}. Use another file.`);
  }
}

async function save(path: string, memories: ReadonlyMap<string, Memory>): Promise<void> {
  if (memories.size > maxMemories) {
    const fault = `The state file ${path} would contain more than ${maxMemories} lists. Use another file.`;
    throw new CommandError('usage', fault);
  }
  const lists = Object.fromEntries(
    [...memories].map(([key, { floor, seen }]) => [key, { floor, seen: [...seen] }]),
  );
  const text = `${JSON.stringify({ perch_watch: version, lists })}\n`;
  await explainWriteErrors(path, async () => {
    const unfinished = `${path}.part`;
    writeFileSync(unfinished, text, { mode: 0o600, flush: true });
    renameSync(unfinished, path);
    syncFolder(dirname(path));
  });
}
