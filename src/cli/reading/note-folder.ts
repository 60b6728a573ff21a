import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isCode, makeFolder } from '../../core/files/private-files.ts';
import { CommandError, type ExitCode, UsageError } from '../command.ts';
import { cleanText, type Output } from '../output/output.ts';
import { explainWriteErrors, writeOutputFile } from '../output/output-file.ts';
import { countOf, toCount } from '../output/table.ts';

/** Markdown note of a post. `name` is the name of its file, `TITLE ID.md`. */
export interface Note {
  readonly name: string;
  readonly text: string;
}

export interface NoteFolder {
  /** Keeps a note that differs only in the time of its read; replaces others under their name. */
  save(note: Note): Promise<void>;
  /** Counts a post that cannot be shown and so has no note. */
  skip(): void;
}

/**
 * Creates the folder before the first note. Prints how many notes were written.
 * @throws UsageError if `path` is empty; CommandError if it is not a folder, or if a note cannot be
 *   written
 */
export async function withNoteFolder(
  path: string,
  stdout: Output,
  use: (folder: NoteFolder) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (path === '') throw new UsageError('--output-dir is empty. Set it to a folder.');
  return explainWriteErrors(path, async () => {
    if (isOtherFile(path)) {
      throw new CommandError('usage', `${path} is not a folder. Set --output-dir to a folder.`);
    }
    const counts = { created: 0, updated: 0, same: 0, skipped: 0 };
    try {
      return await use(openNoteFolder(path, counts));
    } finally {
      if (Object.values(counts).some((count) => count > 0)) {
        stdout.write(`${describeCounts(path, counts)}\n`);
      }
    }
  });
}

type Counts = Record<'created' | 'updated' | 'same' | 'skipped', number>;

function describeCounts(path: string, { created, updated, same, skipped }: Counts): string {
  const written = countOf(created + updated, 'note');
  const details = `${toCount(created)} new, ${toCount(updated)} updated`;
  const left = skipped === 0 ? '' : `, ${countOf(skipped, 'unavailable post')} left out`;
  return `${written} written to ${path} (${details}), ${toCount(same)} unchanged${left}`;
}

const isOtherFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;

function openNoteFolder(root: string, counts: Counts): NoteFolder {
  let names: Set<string> | undefined;
  return {
    save: async ({ name, text }) => {
      if (names === undefined) {
        makeFolder(root);
        names = new Set(readdirSync(root));
      }
      const clean = cleanText(text);
      const file = findNote({ name, text: clean }, root, names);
      const before = readNote(join(root, file));
      if (before !== null && withoutTime(before) === withoutTime(clean)) {
        counts.same += 1;
        return;
      }
      await writeOutputFile(join(root, file), async (stream) => {
        stream.write(clean);
        return true;
      });
      names.add(file);
      counts[before === null ? 'created' : 'updated'] += 1;
    },
    skip: () => {
      counts.skipped += 1;
    },
  };
}

function findNote({ name, text }: Note, root: string, names: ReadonlySet<string>): string {
  if (names.has(name)) return name;
  const end = name.slice(name.lastIndexOf(' '));
  const url = urlOf(text);
  const isSame = (other: string) =>
    other.endsWith(end) && urlOf(readNote(join(root, other)) ?? '') === url;
  return [...names].find(isSame) ?? name;
}

const urlOf = (note: string): string | undefined => /^url: (\S+)/m.exec(note)?.[1];

const withoutTime = (note: string): string => note.replace(/^fetched_at: .*\n/m, '');

function readNote(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT', 'EISDIR')) return null;
    throw error;
  }
}
