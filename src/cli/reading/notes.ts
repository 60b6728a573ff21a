import type { ParsedUrlQuery } from 'node:querystring';
import type { Fetching } from '../../app/open/fetching.ts';
import { canonicalUrl, type Status } from '../../model/post.ts';
import type { BrowseResult, PostPage } from '../../model/results.ts';
import { reads } from '../../reads/index.ts';
import type { ParsedRead } from '../../reads/read.ts';
import { renderPostNote, toNoteFileNames } from '../../render/obsidian.ts';
import { type CommandOptions, UsageError } from '../command.ts';
import type { Note, NoteFolder } from './note-folder.ts';
import { type OptionValues, textOf } from './read-options.ts';

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

type ListedPosts = Pick<BrowseResult, 'items' | 'fetchedAt' | 'source' | 'full'>;

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
