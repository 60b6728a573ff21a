import type { MediaFolder } from '../../archive/media/media-folder.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { extensionOf } from '../../core/files/media-type.ts';
import type { ExportFolder } from './export-folder.ts';

interface MediaExportOptions {
  readonly store: ArchiveStore;
  readonly media: MediaFolder;
  readonly folder: ExportFolder;
  readonly baseUrl: string;
}

const mediaFolder = 'media';

const linkPattern = /\]\((https?:[^()\s]*)\/media\/sha256\/([0-9a-f]{64})\)/g;

export type MediaExport = ReturnType<typeof createMediaExport>;

export function createMediaExport({ store, media, folder, baseUrl }: MediaExportOptions) {
  const names = new Map<string, string | null>();
  /** Returns the name of the copy; `null` if the archive does not have the file. */
  const copy = (hash: string): string | null => {
    const found = store.findMediaCopy(hash);
    if (found === undefined || !media.has(found)) return null;
    const name = `${hash}.${extensionOf(found.type)}`;
    folder.copy(`${mediaFolder}/${name}`, { from: media.pathOf(hash), bytes: found.bytes });
    return name;
  };
  const copyOnce = (hash: string): string | null => {
    const known = names.get(hash);
    if (known !== undefined) return known;
    const name = copy(hash);
    names.set(hash, name);
    return name;
  };
  return {
    /** Rewrites links to archived media as relative ones. `up`: path to the export folder. */
    localize: (note: string, up: string): string =>
      note.replace(linkPattern, (link, base: string, hash: string) => {
        const name = base === baseUrl ? copyOnce(hash) : null;
        return name === null ? link : `](${up}${mediaFolder}/${name})`;
      }),
    /** Deletes media files of earlier exports that no exported Markdown file links to any more. */
    removeOthers: (): void => folder.keepOnlyMedia(mediaFolder, new Set(names.values())),
  };
}
