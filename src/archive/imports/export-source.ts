import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';

interface Dated {
  /** When it was so, in Unix seconds; left out where that is when the export was made. */
  readonly stored?: number;
}

/** The account whose export it is. It comes before what is told of it: reposts and follows are of its platform. */
export interface ExportedAccount extends Dated {
  readonly kind: 'account';
  readonly account: Account;
}

/** A post, also one by somebody else that the export has. */
export interface ExportedPost extends Dated {
  readonly kind: 'post';
  readonly post: Post;
  /** The id of the post that it answers. */
  readonly parentId: string | null;
  /** Unix seconds; a fraction orders posts of one second. */
  readonly created: number;
}

/** That an account passed a post on. The post is an item of its own, where the export has it. */
export interface ExportedRepost extends Dated {
  readonly kind: 'repost';
  /** Who passed it on. Lower case, as is `postHandle`. */
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** When it was passed on, in Unix seconds. */
  readonly created: number;
}

/** That one account follows another, by handle in lower case or, if X tells but an id, by `toIdHandle` of it. */
export interface ExportedFollow extends Dated {
  readonly kind: 'follow';
  readonly follower: string;
  readonly followed: string;
}

export interface SkippedRecord {
  readonly kind: 'skipped';
  /** Which record it is: its file, and its place or id in it. */
  readonly where: string;
  readonly why: string;
  /** `fault`: it could not be read. `private`: its author did not show it to everybody. */
  readonly cause: 'fault' | 'private';
  /** True where the file ends too early, so that more than this record is missing. */
  readonly isCutOff?: boolean;
  /** True where it is the whole account that is kept and not shown. */
  readonly isAccount?: boolean;
}

export type ExportItem =
  | ExportedAccount
  | ExportedPost
  | ExportedRepost
  | ExportedFollow
  | SkippedRecord;

/** An export that is open. Close it with `close()`. */
export interface ExportSource {
  /** What it was recognised as, for the summary: `X export`, `Bluesky repository`. */
  readonly title: string;
  /** When the export was made, in Unix seconds; left out where it does not tell. */
  readonly exported?: number;
  /** How large it is, in bytes of what is read; null where that is not known. */
  readonly totalBytes: number | null;
  readonly bytesRead: number;
  /**
   * Gives everything in the export, always in the same order and in constant memory: a few items at a time, and others
   * have their turn now and then. It is called once.
   * @throws Error with a sentence where the export as a whole cannot be read
   */
  groups(): AsyncIterable<readonly ExportItem[]>;
  close(): Promise<void>;
}

/** What may be known of an export that is not in it. */
export interface ExportHints {
  /** The account's handle in lower case, for a form that names it by id alone. */
  readonly handle?: string;
}

export interface ExportForm {
  /** As in `--form`. */
  readonly name: string;
  /** Whether the handle among the hints is used. */
  readonly takesHandle: boolean;
  /**
   * Opens the file or folder as this form; null where it is none of it, told by what is in it and not by its name.
   * @throws Error with a sentence where it looks like this form and cannot be read
   */
  open(path: string, hints?: ExportHints): Promise<ExportSource | null>;
}

/** Returns the record of what was left out because it could not be read. */
export function skip(where: string, why: string): SkippedRecord {
  return { kind: 'skipped', where, why, cause: 'fault' };
}
