/** Maximum number of files of an export that are listed. */
export const maxListedFiles = 10_000;

/** Text is compressed to about a tenth. Up to `largeBytes` files may grow more: they do no harm. */
const growth = { ratio: 250, largeBytes: 64 * 2 ** 20 } as const;

/** Returns whether compressed bytes grow to more than an export does. */
export function growsTooMuch(bytes: number, compressedBytes: number): boolean {
  return bytes > growth.largeBytes && bytes > compressedBytes * growth.ratio;
}

/** Returns whether an import reads files of this name: it does not read pictures, for instance. */
export function isListedName(name: string): boolean {
  return /\.(?:js|json|ndjson|car)$/.test(name);
}
