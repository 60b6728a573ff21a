import { statfsSync } from 'node:fs';
import { z } from 'zod';
import { savedFiles } from '../../core/files/data-folder.ts';
import { CommandError } from '../command.ts';
import { countOf } from '../output/table.ts';

const formatVersion = 1;

/** Name of the first file of a backup, which describes the other files. */
export const manifestName = 'manifest.json';
export const maxManifestBytes = 65_536;

/** Pattern of the paths of media files in a backup. Captures the SHA-256 hash of the content. */
export const mediaName = /^media\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

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
  created: z.iso.datetime(),
  /** Whether keys, sessions and secrets were in Valkey or Redis, and so are not in the backup. */
  shared_engine: z.boolean(),
  files: z.array(savedFile).min(1).max(savedFiles.length),
  /** Count and bytes of media files, which `files` omits: their names contain their hashes. */
  media: z
    .object({ files: z.int().nonnegative(), bytes: z.int().nonnegative() })
    .default({ files: 0, bytes: 0 }),
});

export type SavedFile = Readonly<z.output<typeof savedFile>>;

export type Manifest = Readonly<z.output<typeof manifest>>;

export const listMediaCount = ({ files }: Manifest['media']): readonly string[] =>
  files === 0 ? [] : [countOf(files, 'media file')];

export function createManifest(fields: Omit<Manifest, 'perch_backup'>): Manifest {
  return { perch_backup: formatVersion, ...fields };
}

const anyVersion = z.object({
  perch_backup: z.int().positive(),
  perch: z.string().max(40).optional(),
});

/** Parses a manifest. @throws CommandError if it is invalid or of a newer version of Perch */
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

/** Checks the disk of `folder`. @throws CommandError if fewer than `bytes` bytes are free */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new CommandError(
    'upstream',
    `The disk with ${folder} has ${toSize(free)} free, but the command needs ${toSize(bytes)}. Free some space and run the command again.`,
  );
}

export function toSize(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}
