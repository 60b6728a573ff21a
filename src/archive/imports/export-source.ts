import type * as z from 'zod';
import type { Account } from '../../model/account.ts';
import type { Status } from '../../model/post.ts';
import type { StoredFollow } from '../store/connections.ts';
import type { StoredPost } from '../store/post-rows.ts';
import type { StoredRepost } from '../store/timeline.ts';

interface Dated {
  /** Unix second at which the platform provided the data. Default: the time of the export. */
  readonly stored?: number;
}

/** Reference from a post or an account to a media file that the export may lack. */
export interface MediaReference {
  /** URL of the media file, exactly as the post or account contains it. */
  readonly url: string;
  /** Name of the file, as `ExportSource.mediaNameOf` returns it. */
  readonly name: string;
}

/** Account, which `ExportSource.groups` yields before its reposts and `ExportedFollow` items. */
export interface ExportedAccount extends Dated {
  readonly kind: 'account';
  readonly account: Account;
  readonly media?: readonly MediaReference[];
}

/** Post by the owner of the export or by another account. */
export interface ExportedPost extends Dated, Pick<StoredPost, 'post' | 'parentId' | 'created'> {
  readonly kind: 'post';
  readonly media?: readonly MediaReference[] | undefined;
}

/** Repost by an account. The reposted post, if exported, is a separate item. */
export interface ExportedRepost extends Dated, Omit<StoredRepost, 'platform' | 'stored'> {
  readonly kind: 'repost';
}

interface ExportedFollow extends Dated, Pick<StoredFollow, 'follower' | 'followed'> {
  readonly kind: 'follow';
}

export interface SkippedRecord {
  readonly kind: 'skipped';
  /** File that contains the skipped record, and the record's number or id in the file. */
  readonly location: string;
  readonly reason: string;
  /** `fault`: the record is unreadable. `private`: the author did not make it public. */
  readonly cause: 'fault' | 'private';
  /** Whether the file is truncated at this record, so that all later records are missing. */
  readonly isCutOff?: boolean;
  /** Whether it is an account's profile. Its other records are then imported but not served. */
  readonly isAccount?: boolean;
}

export interface LeftOutContent {
  readonly kind: 'left-out';
  readonly name: string;
  readonly count: number;
  readonly unit: 'item' | 'line' | 'file' | 'byte';
  /** Reason why Perch does not import the content, without a full stop. */
  readonly reason: string;
}

export type ExportItem =
  | ExportedAccount
  | ExportedPost
  | ExportedRepost
  | ExportedFollow
  | SkippedRecord
  | LeftOutContent;

/** Export that is open for reading. Close it with `close()`. */
export interface ExportSource {
  /** Kind of export for the user, such as `X export` or `Bluesky repository`. */
  readonly title: string;
  /** Unix second of the export, if the export contains it. */
  readonly exported?: number;
  /** Number of bytes that will be read; `null` if unknown. */
  readonly totalBytes: number | null;
  readonly bytesRead: number;
  /**
   * Yields arrays of items, always in the same order. Yields a `SkippedRecord` for each unreadable
   * record, and `LeftOutContent` for each file that is not imported. Can be called only once.
   * @throws Error with a message for the user if a file of the export is damaged, or if the account
   *   is missing
   */
  groups(): AsyncIterable<readonly ExportItem[]>;
  /** Returns a media file's name in posts and profiles; `null` for other files. */
  readonly mediaNameOf?: (path: string) => string | null;
  close(): Promise<void>;
}

export interface ExportHints {
  /** Lower-case handle from the user, for formats that identify the account by id only. */
  readonly handle?: string;
  /** Unix milliseconds of the import, after which no record was written. Default: no limit. */
  readonly nowMs?: number;
}

export interface ExportFormat {
  /** Name of the format in the command-line option `--form`. */
  readonly name: string;
  readonly takesHandle: boolean;
  /** Returns `null` for another format. The source closes `files`. @throws Error if it fails */
  open(files: ExportFiles, hints: ExportHints): Promise<ExportSource | null>;
}

/** Creates the item of a post. `created`: Unix second. */
export function toPostItem<P extends Status>(
  post: P,
  created: number,
  media?: readonly MediaReference[],
): ExportedPost & { readonly post: P } {
  return { kind: 'post', post, parentId: post.replying_to?.status ?? null, created, media };
}

/** Creates the item of a repost. `created`: Unix second. */
export const toRepostItem = (by: Account, post: Status, created: number): ExportedRepost => ({
  kind: 'repost',
  handle: by.screen_name.toLowerCase(),
  postHandle: post.author.screen_name.toLowerCase(),
  postId: post.id,
  created,
});

export const skipRecord = (
  location: string,
  reason: string,
  cause: SkippedRecord['cause'] = 'fault',
): SkippedRecord => ({ kind: 'skipped', location, reason, cause });

export interface ExportFile {
  /** Path within the export, with `/` between folders. The path is not validated. */
  readonly name: string;
  /** Uncompressed size, as stated by the export. */
  readonly bytes: number;
  /** Yields the content. @throws Error with a message for the user if it is unreadable */
  read(): AsyncIterable<Uint8Array>;
}

/** Export that is open for reading. Close it with `close()`. */
export interface ExportFiles {
  readonly path: string;
  /** Kind of export: a folder, a zip or tar file (`packed`), or any other file. */
  readonly kind: 'folder' | 'packed' | 'file';
  /** Files with records, at most `maxListedFiles`; for the kind `file`, the file itself. */
  readonly files: readonly ExportFile[];
  /** Yields all files, in any order. Only those with records can be read. */
  list(): AsyncIterable<ExportFile>;
  /**
   * Yields all files, in any order. Each can be read only until the caller requests the next one.
   * Unpacks a tar file again.
   */
  all(): AsyncIterable<ExportFile>;
  close(): Promise<void>;
}

export const maxListedFiles = 10_000;

const growth = {
  /** Maximum ratio of unpacked to compressed size. */
  ratio: 250,
  /** Unpacked size in bytes up to which any compression ratio is allowed. */
  largeBytes: 64 * 2 ** 20,
} as const;

export const isDecompressionBomb = (bytes: number, compressedBytes: number): boolean =>
  bytes > growth.largeBytes && bytes > compressedBytes * growth.ratio;

/** Returns the folder of a path, with a trailing `/` unless it is empty. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

export const isExportFileName = (name: string): boolean =>
  /\.(?:js|json|csv|ndjson|car)$/.test(name);

/** Returns the first `length` bytes; fewer if there are no more. */
export async function readStart(
  chunks: AsyncIterable<Uint8Array>,
  length: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks) {
    parts.push(part);
    size += part.length;
    if (size >= length) break;
  }
  return Buffer.concat(parts).subarray(0, length);
}

const maxObjectBytes = 4 * 2 ** 20; // a manifest of X has about 100 KB

/** Parses the object of a script or JSON file; `null` if there is none that `schema` accepts. */
export async function readObject<Value>(
  file: ExportFile | undefined,
  schema: z.ZodType<Value>,
): Promise<Value | null> {
  if (file === undefined || file.bytes > maxObjectBytes) return null;
  const text = (await readStart(file.read(), maxObjectBytes)).toString('utf8');
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return schema.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null; // not JSON
  }
}

interface SourceParts extends Pick<ExportSource, 'title' | 'groups' | 'mediaNameOf'> {
  /** Unix milliseconds of the export; `null` if they are unknown. */
  readonly exportedMs?: number | null;
}

/** Creates the source that an import reads. `count`: adds a file to those whose reads count. */
export function createExportSource(
  { close }: ExportFiles,
  createParts: (count: (file: ExportFile) => ExportFile) => SourceParts,
): ExportSource {
  let totalBytes = 0;
  let bytesRead = 0;
  const count = (file: ExportFile): ExportFile => {
    totalBytes += file.bytes;
    const read = async function* () {
      for await (const chunk of file.read()) {
        bytesRead += chunk.length;
        yield chunk;
      }
    };
    return { ...file, read };
  };
  const { exportedMs = null, ...parts } = createParts(count);
  return {
    ...parts,
    ...(exportedMs !== null && { exported: Math.floor(exportedMs / 1000) }),
    totalBytes,
    get bytesRead() {
      return bytesRead;
    },
    close,
  };
}
