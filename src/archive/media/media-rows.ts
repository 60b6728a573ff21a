import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Post, Status } from '../../model/post.ts';
import type { AccountReference } from '../../model/reference.ts';

export interface MediaCopy {
  /** SHA-256 of the content, in lower-case hexadecimal. */
  readonly hash: string;
  readonly bytes: number;
  readonly type: string;
}

interface StoredReference {
  /** Account whose export contains the post or profile that refers to the file. */
  readonly owner: AccountReference;
  /** Lower-case handle of the account that published the file. */
  readonly author: string;
  /** URL of the media file, exactly as the post or account contains it. */
  readonly url: string;
  /** Name of the file, as `ExportSource.mediaNameOf` returns it. */
  readonly name: string;
}

export interface MediaTotal {
  readonly files: number;
  readonly bytes: number;
}

export function openMediaRows(database: SqliteDatabase) {
  return { ...openReferences(database), ...openCopies(database) };
}

function openReferences(database: SqliteDatabase) {
  const refer = database.prepare(
    `INSERT INTO media_references (platform, handle, url, author, name, hash)
     VALUES (@platform, @handle, @url, @author, @name, NULL)
     ON CONFLICT DO UPDATE SET author = excluded.author, name = excluded.name`,
  );
  const named = database
    .prepare<unknown[], string | null>(
      `SELECT hash FROM media_references
       WHERE platform = @platform AND handle = @handle AND name = @name`,
    )
    .pluck();
  const missing = database
    .prepare<[AccountReference], number>(
      `SELECT count(*) FROM media_references WHERE platform = @platform AND handle = @handle
         AND hash IS NULL AND url GLOB '${exportOnly}*'`,
    )
    .pluck();
  const importedBy = database.prepare<[number], AccountReference>(
    'SELECT platform, handle FROM import_accounts WHERE import = ?',
  );
  return {
    addMediaReference: ({ owner, ...reference }: StoredReference): void =>
      void refer.run({ ...reference, ...owner }),
    /** Finds the URLs that refer to a file, each with the stored file's hash or `null`. */
    findNamedMedia: (owner: AccountReference, name: string): readonly (string | null)[] =>
      named.all({ ...owner, name }),
    /** Counts media references that cannot be served: no file is stored, and no URL is known. */
    countMissingMedia: (owner: AccountReference): number => missing.get(owner) ?? 0,
    listImportedAccounts: (number: number): readonly AccountReference[] => importedBy.all(number),
  };
}

function openCopies(database: SqliteDatabase) {
  const assign = database.prepare(
    `UPDATE media_references SET hash = @hash
     WHERE platform = @platform AND handle = @handle AND name = @name`,
  );
  const insert = database.prepare(
    'INSERT OR REPLACE INTO media_copies (hash, bytes, type) VALUES (@hash, @bytes, @type)',
  );
  const copy = database.prepare<[string], MediaCopy>('SELECT * FROM media_copies WHERE hash = ?');
  const total = database.prepare<[], MediaTotal>(countCopies);
  const unused = database
    .prepare<[], string>(
      `DELETE FROM media_copies WHERE NOT EXISTS (
         SELECT 1 FROM media_references WHERE media_references.hash = media_copies.hash
       ) RETURNING hash`,
    )
    .pluck();
  return {
    /** Stores a file's row, and links it to all references to `name`; `false` if there is none. */
    addMediaCopy: (owner: AccountReference, name: string, found: MediaCopy): boolean => {
      if (assign.run({ ...owner, name, hash: found.hash }).changes === 0) return false;
      insert.run(found);
      return true;
    },
    findMediaCopy: (hash: string): MediaCopy | undefined => copy.get(hash),
    countMedia: (): MediaTotal => total.get() ?? { files: 0, bytes: 0 },
    /** Deletes the rows of files to which no post or profile refers. Returns their hashes. */
    deleteUnusedMedia: (): readonly string[] => unused.all(),
  };
}

const countCopies = 'SELECT count(*) AS files, ifnull(sum(bytes), 0) AS bytes FROM media_copies';

/** Path prefix of media files on this server. The hash of the file follows. */
export const copiesPath = '/media/sha256/';

/** Prefix of placeholders for unknown URLs. `createMediaLinks` replaces or removes them. */
export const exportOnly = 'export:';

export type MediaLinks = ReturnType<typeof createMediaLinks>;

/** Creates functions that replace media URLs in posts and accounts with those of stored copies. */
export function createMediaLinks(database: SqliteDatabase, baseUrl: string) {
  const find = database
    .prepare<[string], string>('SELECT hash FROM public_media WHERE url = ? LIMIT 1')
    .pluck();
  const anyCopy = database.prepare('SELECT 1 FROM media_copies LIMIT 1');
  const copyOf = (url: string): string | null => {
    const hash = find.get(url);
    return hash === undefined ? null : `${baseUrl}${copiesPath}${hash}`;
  };
  const toLink = (url: string | null): string | null => {
    if (url === null) return null;
    return copyOf(url) ?? (url.startsWith(exportOnly) ? null : url);
  };
  const linkAccount = (account: Account): Account => ({
    ...account,
    avatar_url: toLink(account.avatar_url),
    banner_url: toLink(account.banner_url),
  });
  const linkItem = (item: Media): readonly Media[] => {
    const variants = item.variants?.map((one) => ({ ...one, url: copyOf(one.url) ?? one.url }));
    // An export of X contains one variant of each video, which is not always the best one.
    const stored = variants?.find(({ url }, at) => url !== item.variants?.[at]?.url)?.url;
    const url = copyOf(item.url) ?? stored ?? toLink(item.url);
    if (url === null) return [];
    const { thumbnail_url: picture } = item;
    return [
      {
        ...item,
        url,
        ...(picture !== undefined && { thumbnail_url: toLink(picture) }),
        ...(variants !== undefined && { variants }),
      },
    ];
  };
  const linkMedia = (media: MediaSet): MediaSet =>
    media.all.length === 0 ? media : toMediaSet(media.all.flatMap(linkItem));
  const linkStatus = (post: Status): Status => ({
    ...post,
    author: linkAccount(post.author),
    media: linkMedia(post.media),
    ...(post.quote !== null && { quote: linkPost(post.quote) }),
  });
  const linkPost = (post: Post): Post => (post.type === 'status' ? linkStatus(post) : post);
  return {
    /** Returns whether JSON has no media URL to replace, neither of a copy nor `export:`. */
    isUnchanged: (json: string): boolean =>
      anyCopy.get() === undefined && !json.includes(`"${exportOnly}`),
    account: linkAccount,
    post: linkPost,
  };
}
