import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';

interface Dated {
  /** Unix second at which the platform provided the data of the item. Default: the time of the export. */
  readonly stored?: number;
}

/** Reference from a post or an account to a media file, which the export may contain. */
export interface MediaReference {
  /** URL of the media file, exactly as the post or account contains it. */
  readonly url: string;
  /** Name of the file, as `ExportSource.mediaNameOf` returns it. */
  readonly name: string;
}

/** Account in an export. `ExportSource.groups` yields an account before its reposts and its `ExportedFollow` items. */
export interface ExportedAccount extends Dated {
  readonly kind: 'account';
  readonly account: Account;
  /** Pictures of the profile. Default: none. */
  readonly media?: readonly MediaReference[];
}

/** Post in an export, by the owner of the export or by another account. */
export interface ExportedPost extends Dated {
  readonly kind: 'post';
  readonly post: Post;
  readonly parentId: string | null;
  /** Time of the post in Unix seconds. The fraction determines the order of posts in the same second. */
  readonly created: number;
  /** Pictures, videos and sounds of the post. Default: none. */
  readonly media?: readonly MediaReference[];
}

/** Repost by an account. If the export contains the reposted post, the post is a separate item. */
export interface ExportedRepost extends Dated {
  readonly kind: 'repost';
  /** Lower-case handle of the account that reposted. */
  readonly handle: string;
  /** Lower-case handle of the author of the reposted post. */
  readonly postHandle: string;
  readonly postId: string;
  /** Time of the repost, in Unix seconds. */
  readonly created: number;
}

/**
 * Record that the account `follower` follows the account `followed`. Each value is a lower-case handle, or `id:` and
 * the id of the account (see `toIdHandle`).
 */
export interface ExportedFollow extends Dated {
  readonly kind: 'follow';
  readonly follower: string;
  readonly followed: string;
}

export interface SkippedRecord {
  readonly kind: 'skipped';
  /** File that contains the skipped record, and the record's number or id in the file. */
  readonly location: string;
  readonly reason: string;
  /**
   * Reason why the record was skipped. `fault`: the record is unreadable. `private`: the author did
   * not make the record public.
   */
  readonly cause: 'fault' | 'private';
  /** Whether the file is truncated at this record. If true, all later records are missing too. */
  readonly isCutOff?: boolean;
  /**
   * Whether the skipped record is an account's profile. If true, the other records of the account are imported, but the
   * server does not serve the account.
   */
  readonly isAccount?: boolean;
}

/** Content of an export that Perch does not import, such as private messages. */
export interface LeftOutContent {
  readonly kind: 'left-out';
  /** File or folder of the export, or collection of a repository. */
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
  /** Name of the kind of export, such as `X export` or `Bluesky repository`. Shown to the user. */
  readonly title: string;
  /** Time of the export in Unix seconds, if the export contains it. */
  readonly exported?: number;
  /** Number of bytes that will be read; `null` if unknown. */
  readonly totalBytes: number | null;
  readonly bytesRead: number;
  /**
   * Yields arrays of the items of the export, always in the same order. Yields a `SkippedRecord` for each unreadable
   * record, and `LeftOutContent` for each file with content that is not imported. The memory use does not depend on the size of the export. Can be called only once.
   * @throws Error with a message for the user if a file of the export is damaged, or if the account is missing
   */
  groups(): AsyncIterable<readonly ExportItem[]>;
  /**
   * Returns the name by which posts and profiles refer to the file at `path` in the export; `null`
   * if the file is not a media file. Absent if exports of this format contain no media files.
   */
  readonly mediaNameOf?: (path: string) => string | null;
  close(): Promise<void>;
}

/** Facts that an export lacks. */
export interface ExportHints {
  /** Lower-case handle of the account from the user, for formats that identify the account by id only. */
  readonly handle?: string;
  /** Time of the import in Unix milliseconds, after which no record was written. Default: no limit. */
  readonly nowMs?: number;
}

export interface ExportFormat {
  /** Name of the format, as passed to the command-line option `--form`. */
  readonly name: string;
  readonly takesHandle: boolean;
  /** Opens an export. Returns `null` if the path has another format. @throws Error if opening fails */
  open(path: string, hints?: ExportHints): Promise<ExportSource | null>;
}

export function skipRecord(location: string, reason: string): SkippedRecord {
  return { kind: 'skipped', location, reason, cause: 'fault' };
}
