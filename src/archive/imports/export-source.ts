import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';

interface Dated {
  /** Unix second at which the item was current. Default: the time of the export. */
  readonly stored?: number;
}

/** Account that the export belongs to. It precedes the reposts and follows of the same platform. */
export interface ExportedAccount extends Dated {
  readonly kind: 'account';
  readonly account: Account;
}

/** Post in an export, by the owner of the export or by another account. */
export interface ExportedPost extends Dated {
  readonly kind: 'post';
  readonly post: Post;
  readonly parentId: string | null;
  /** Time of the post in Unix seconds. A fraction orders posts of the same second. */
  readonly created: number;
}

/** Repost by an account. The reposted post is an item of its own if the export contains it. */
export interface ExportedRepost extends Dated {
  readonly kind: 'repost';
  /** Lower-case handle of the reposting account. `postHandle` is in lower case too. */
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** Time of the repost, in Unix seconds. */
  readonly created: number;
}

/** Follow of one account by another. Has lower-case handles, or `toIdHandle` values if X exports only the id. */
export interface ExportedFollow extends Dated {
  readonly kind: 'follow';
  readonly follower: string;
  readonly followed: string;
}

export interface SkippedRecord {
  readonly kind: 'skipped';
  /** Position of the record: its file, and its number or id in the file. */
  readonly location: string;
  readonly reason: string;
  /** `fault`: the record could not be read. `private`: its author did not make it public. */
  readonly cause: 'fault' | 'private';
  /** Whether the file is truncated. If true, the records after this one are missing too. */
  readonly isCutOff?: boolean;
  /** Whether the record makes the whole account hidden. A hidden account is imported but not served. */
  readonly isAccount?: boolean;
}

export type ExportItem =
  | ExportedAccount
  | ExportedPost
  | ExportedRepost
  | ExportedFollow
  | SkippedRecord;

/** Export that is open for reading. Close it with `close()`. */
export interface ExportSource {
  /** Kind of export for the summary, such as `X export` or `Bluesky repository`. */
  readonly title: string;
  /** Time of the export in Unix seconds, if the export contains it. */
  readonly exported?: number;
  /** Number of bytes that will be read; `null` if unknown. */
  readonly totalBytes: number | null;
  readonly bytesRead: number;
  /**
   * Reads all items in constant memory, in a fixed order. Other work can run between two groups. Call it only once.
   * @throws Error with a sentence if the export as a whole cannot be read
   */
  groups(): AsyncIterable<readonly ExportItem[]>;
  close(): Promise<void>;
}

/** Facts that the user can supply if the export lacks them. */
export interface ExportHints {
  /** Lower-case handle of the account, for formats that identify the account by id only. */
  readonly handle?: string;
}

export interface ExportFormat {
  /** Name of the format, for the option `--form`. */
  readonly name: string;
  readonly takesHandle: boolean;
  /** Opens a path. Returns `null` if it has another format. @throws Error with a sentence if opening fails */
  open(path: string, hints?: ExportHints): Promise<ExportSource | null>;
}

export function skipRecord(location: string, reason: string): SkippedRecord {
  return { kind: 'skipped', location, reason, cause: 'fault' };
}
