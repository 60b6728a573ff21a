import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ParsedUrlQuery } from 'node:querystring';
import { isCode, makeFolder } from '../../lib/files/private-files.ts';
import { canonicalUrl, type Status } from '../../model/post.ts';
import type { ListResult, PostPage } from '../../model/results.ts';
import { reads } from '../../reads/index.ts';
import type { ParsedRead } from '../../reads/read.ts';
import { renderPostNote, toNoteFileNames } from '../../render/obsidian.ts';
import type { Fetching } from '../../server/wiring/fetching.ts';
import { CommandError, type CommandOptions, UsageError } from '../command.ts';
import {
  cleanText,
  countOf,
  explainWriteErrors,
  type Output,
  toCount,
  writeOutputFile,
} from '../output/output.ts';
import { type OptionValues, textOf } from './arguments.ts';

export const noteOptions = {
  'output-dir': {
    type: 'string',
    value: 'DIR',
    about: 'Writes a note for Obsidian into the folder DIR for each post, instead of printing.',
  },
} as const satisfies CommandOptions;

/** Returns `--output-dir`. @throws UsageError for an option that cannot be used with it */
export function toNoteFolderPath(values: OptionValues): string | undefined {
  const path = textOf(values['output-dir']);
  if (path === undefined) return undefined;
  const other = ['json', 'output', 'max-chars'].find((name) => values[name] !== undefined);
  if (other !== undefined) {
    throw new UsageError(`--output-dir and --${other} cannot be used together.`);
  }
  const format = textOf(values.format)?.toLowerCase() ?? 'obsidian';
  if (format === 'obsidian') return path;
  throw new UsageError(
    '--output-dir writes notes for Obsidian, so it cannot be used with another --format. To write another format to a file, use --output FILE.',
  );
}

/** Saves a post and its thread as one note. @throws Problem if it cannot be fetched */
export async function savePost(
  parameters: Readonly<ParsedUrlQuery>,
  { reader }: Fetching,
  notes: NoteFolder,
): Promise<void> {
  const answered = await reader.fetch(reader.parse(reads.getPost, parameters));
  const { body, fileNames } = await reader.represent(answered, 'obsidian');
  if (fileNames === null) throw new Error('A note has no file name.');
  await notes.save({ name: fileNames.ascii, text: body.toString() });
}

type ListedPosts = Pick<ListResult, 'items' | 'fetchedAt' | 'source' | 'full'>;

/** Creates a printer of notes. @throws UsageError for a list that contains only accounts */
export function createNotePrinter({ hasFeeds }: Pick<ParsedRead, 'hasFeeds'>, notes: NoteFolder) {
  if (!hasFeeds) {
    throw new UsageError(
      '--output-dir writes a note for each post, and this list contains no posts. Give a post, an account, or a search for posts.',
    );
  }
  return {
    isFull: false,
    print: async (page: ListedPosts) => {
      const posts = page.items !== null && 'posts' in page.items ? page.items.posts : [];
      for (const post of posts) {
        if (post.type === 'status') await notes.save(toNote(post, page));
        else notes.skip();
      }
    },
  };
}

function toNote(post: Status, { fetchedAt, source, full }: ListedPosts): Note {
  const page: PostPage = {
    url: canonicalUrl(post) ?? '',
    // The same note for the account that reposted the post and for its author.
    posts: [{ ...post, reposted_by: null, context: 'post' }],
    warnings: [],
    fetchedAt,
    source,
    full,
    userDetail: full ? 'author' : 'off',
  };
  return { name: toNoteFileNames(page).ascii, text: renderPostNote(page) };
}

/** Markdown note of a post. `name` is the name of its file, `TITLE ID.md`. */
export interface Note {
  readonly name: string;
  readonly text: string;
}

/**
 * Creates the folder before the first note. Prints how many notes were written. Without a path,
 * calls `use` with `null`.
 * @throws UsageError if `path` is empty; CommandError if it is not a folder, or if a note cannot be
 *   written
 */
export async function withNoteFolder<Result>(
  path: string | undefined,
  stdout: Output,
  use: (folder: NoteFolder | null) => Promise<Result>,
): Promise<Result | undefined> {
  if (path === undefined) return use(null);
  if (path === '') throw new UsageError('--output-dir is empty. Set it to a folder.');
  return explainWriteErrors(path, async () => {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
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

export type NoteFolder = ReturnType<typeof openNoteFolder>;

function openNoteFolder(root: string, counts: Counts) {
  let names: Set<string> | undefined;
  return {
    /** Keeps a note that differs only in the time of its read; replaces others under their name. */
    save: async ({ name, text }: Note) => {
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
    /** Counts a post that cannot be shown and so has no note. */
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
