import type { MediaFolder } from '../../archive/media/media-folder.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { extensionOf } from '../../core/files/media-type.ts';
import type { ExportFolder } from './export-folder.ts';

interface MediaExportOptions {
  readonly store: ArchiveStore;
  /** Folder of the archive's files. */
  readonly media: MediaFolder;
  /** Folder of the exported notes. */
  readonly folder: ExportFolder;
  /** Base URL in the links to the archive's files. */
  readonly baseUrl: string;
}

/** Name of the folder with the pictures, videos and sounds, beside the folders of the years. */
const mediaFolder = 'media';

/** Matches the target of a Markdown link to a file of the archive. */
const linkPattern = /\]\((https?:[^()\s]*)\/media\/sha256\/([0-9a-f]{64})\)/g;

export type MediaExport = ReturnType<typeof createMediaExport>;

/** Creates functions that copy the files to which notes link into the folder of the notes. */
export function createMediaExport({ store, media, folder, baseUrl }: MediaExportOptions) {
  const names = new Map<string, string | null>();
  /** Copies a file. Returns its name in the folder; `null` if the archive does not have the file. */
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
    /** Replaces links to the archive's files with relative links. `up`: path from the note to the folder, such as `../`. */
    localize: (note: string, up: string): string =>
      note.replace(linkPattern, (link, base: string, hash: string) => {
        const name = base === baseUrl ? copyOnce(hash) : null;
        return name === null ? link : `](${up}${mediaFolder}/${name})`;
      }),
    /** Deletes files of earlier exports to which no note links now. */
    removeOthers: (): void => folder.keepOnlyMedia(mediaFolder, new Set(names.values())),
  };
}
