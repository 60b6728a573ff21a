import { z } from 'zod';
import { savedFiles } from '../../core/files/data-folder.ts';
import { CommandError } from '../command.ts';
import { countOf } from '../output/table.ts';

const formatVersion = 1;

/** Name of the first file of a backup, which describes the other files. */
export const manifestName = 'manifest.json';
export const maxManifestBytes = 65_536;

const savedFile = z.object({
  name: z.enum(savedFiles),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Schema version of a database; `null` for other files. */
  schema: z.int().positive().nullable(),
});

const manifest = z.object({
  perch_backup: z.literal(formatVersion),
  /** Version of Perch that created the backup. */
  perch: z.string().regex(/^[\w.+-]{1,40}$/),
  /** Time of the backup (ISO 8601). */
  created: z.iso.datetime(),
  /**
   * Whether keys, sessions and secrets were stored in a Valkey or Redis server. A backup does not
   * contain the data of that server.
   */
  shared_engine: z.boolean(),
  files: z.array(savedFile).min(1).max(savedFiles.length),
  /**
   * Number and total size in bytes of the archived media files. `files` does not list media files,
   * because the name of a media file contains the hash of its content.
   */
  media: z
    .object({ files: z.int().nonnegative(), bytes: z.int().nonnegative() })
    .default({ files: 0, bytes: 0 }),
});

/** File of a backup, with its size, its SHA-256 hash in hexadecimal and its schema version. */
export type SavedFile = Readonly<z.output<typeof savedFile>>;

/** Description of the content of a backup, stored in the backup as `manifest.json`. */
export type Manifest = Readonly<z.output<typeof manifest>>;

/** Returns a list with one text such as `3 media files`; an empty list if the backup has no media files. */
export const listMediaCount = ({ files }: Manifest['media']): readonly string[] =>
  files === 0 ? [] : [countOf(files, 'media file')];

export function createManifest(fields: Omit<Manifest, 'perch_backup'>): Manifest {
  return { perch_backup: formatVersion, ...fields };
}

const anyVersion = z.object({
  perch_backup: z.int().positive(),
  perch: z.string().max(40).optional(),
});

/**
 * Parses the manifest of the backup file `path`.
 * @throws CommandError if the manifest is invalid, or if a newer version of Perch created the backup
 */
export function parseManifest(text: string, path: string): Manifest {
  const content = parseJson(text);
  const parsed = manifest.safeParse(content);
  const names = parsed.data?.files.map(({ name }) => name) ?? [];
  if (parsed.success && new Set(names).size === names.length) return parsed.data;
  const claimed = anyVersion.safeParse(content);
  if (claimed.success && claimed.data.perch_backup > formatVersion) {
    throw madeByNewer(path, claimed.data.perch);
  }
  throw notABackup(path);
}

/** Creates the error for a backup that only a newer version of Perch can restore. */
export function madeByNewer(path: string, version = 'unknown'): CommandError {
  const fault = `${path} was made by a newer version of Perch (${version}). Install that version or a later one, and run the command again.`;
  return new CommandError('upstream', fault);
}

export function notABackup(path: string, cause?: unknown): CommandError {
  const fault = `${path} is not a backup of Perch, or it is incomplete. Choose a file that \`perch backup\` has written.`;
  return new CommandError('usage', fault, { cause });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
