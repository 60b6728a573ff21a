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

export interface MediaResult extends MediaOutcome {
  /** Number of media files that are neither in the archive nor available at a known URL. */
  readonly missing: number;
}

export interface MediaRequest {
  readonly config: Config;
  readonly store: ArchiveStore;
  readonly source: ExportSource;
  readonly number: number;
  readonly signal: AbortSignal;
  readonly onProgress: (counts: MediaCounts) => void;
}

/** Returns `null` if the format has no media files or the import has no archived account. */
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

export const toMediaMembers = ({ ended, counts, missing }: MediaResult) => ({
  ended,
  ...counts,
  missing,
});

export const describeProgress = ({ stored, bytes, known }: MediaCounts): string =>
  `${toCount(stored + known)} media files, ${toCount(Math.round(bytes / 1e6))} MB stored`;
