import type { ExportSource } from '../../archive/imports/export-source.ts';
import { readMediaFiles } from '../../archive/imports/files/media-files.ts';
import {
  importMedia,
  type MediaCounts,
  type MediaOutcome,
} from '../../archive/media/import-media.ts';
import { openMediaFolder } from '../../archive/media/media-folder.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import type { Config } from '../../config/config.ts';
import { countOf, toCount } from '../output/table.ts';

/** Result of storing the media files of an export. */
export interface MediaResult extends MediaOutcome {
  /** Number of media files that are neither in the archive nor available at a known URL. */
  readonly missing: number;
}

export interface MediaRequest {
  readonly config: Config;
  readonly store: ArchiveStore;
  readonly source: ExportSource;
  /** Number that identifies the import in the archive. */
  readonly number: number;
  readonly signal: AbortSignal;
  readonly onProgress: (counts: MediaCounts) => void;
}

/**
 * Stores the media files of a data export that was imported into the archive. `path`: path of the export. `number`:
 * number of the import. Returns `null` if exports in this format have no media files, or if the archive contains no
 * account from this import.
 */
export async function storeMedia(
  path: string,
  { config, store, source, number, signal, onProgress }: MediaRequest,
): Promise<MediaResult | null> {
  const { mediaNameOf: nameOf } = source;
  const [owner] = store.listImportedAccounts(number);
  if (nameOf === undefined || owner === undefined) return null;
  const outcome = await importMedia({
    store,
    folder: openMediaFolder(config.PERCH_DATA_DIR),
    owner,
    files: readMediaFiles(path),
    nameOf,
    limits: {
      fileBytes: config.PERCH_ARCHIVE_MEDIA_FILE_BYTES,
      totalBytes: config.PERCH_ARCHIVE_MEDIA_BYTES,
    },
    signal,
    onProgress,
  });
  return { ...outcome, missing: store.countMissingMedia(owner) };
}

const reasons = {
  over_quota: 'because the archive would exceed PERCH_ARCHIVE_MEDIA_BYTES',
  too_large: 'because they exceed PERCH_ARCHIVE_MEDIA_FILE_BYTES',
  unsupported: 'because they are not pictures, videos or sounds of a supported type',
  unreadable: 'because they are damaged',
  unused: 'because no imported post contains them',
} as const satisfies Partial<Record<keyof MediaCounts, string>>;

/** Returns lines of text that describe to the user how many media files were stored or skipped. */
export function describeMedia({ ended, counts, missing }: MediaResult): readonly string[] {
  if (ended === 'locked') {
    return [
      'Another import is storing media files. Run the same command again to store these files.',
    ];
  }
  const { stored, bytes, known } = counts;
  const skipped = Object.entries(reasons).flatMap(([name, reason]) => {
    const count = counts[name as keyof typeof reasons]; // a key of `reasons`
    return count === 0 ? [] : [`${countOf(count, 'media file')} left out, ${reason}.`];
  });
  return [
    ...(stored > 0 ? [`${countOf(stored, 'media file')} stored, ${countOf(bytes, 'byte')}.`] : []),
    ...(known > 0 ? [`${countOf(known, 'media file')} already stored.`] : []),
    ...skipped,
    ...(missing > 0
      ? [
          `${countOf(missing, 'media file')} missing: the export contains neither the files nor their full URLs.`,
        ]
      : []),
    ...(ended === 'stopped'
      ? ['The media files are incomplete. Run the same command to continue.']
      : []),
  ];
}

/** Converts the result of storing media files to the members of the JSON output. */
export const toMediaMembers = ({ ended, counts, missing }: MediaResult) => ({
  ended,
  ...counts,
  missing,
});

/** Returns the text of the progress line while media files are stored. */
export const describeProgress = ({ stored, bytes, known }: MediaCounts): string =>
  `${toCount(stored + known)} media files, ${toCount(Math.round(bytes / 1e6))} MB stored`;
