/** A file of an export. */
export interface ExportFile {
  /** Its path within the export, with `/` between folders. */
  readonly name: string;
  /** How long it is when it is read. */
  readonly bytes: number;
}

/** The files of an export, in a folder or in a zip file. Close it with `close()`. */
export interface ExportFiles {
  readonly files: readonly ExportFile[];
  /**
   * Reads a file of `files`.
   *
   * @throws Error with a sentence where it cannot be read
   */
  read(file: ExportFile): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Reads files and counts the bytes. */
export interface FileCount {
  readonly bytes: number;
  read(file: ExportFile): AsyncIterable<Uint8Array>;
}

/** Creates what reads files of an export and counts how much it has read. */
export function createFileCount(files: ExportFiles): FileCount {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    read: async function* (file) {
      for await (const chunk of files.read(file)) {
        bytes += chunk.length;
        yield chunk;
      }
    },
  };
}
