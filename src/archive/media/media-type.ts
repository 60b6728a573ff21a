/** Number of bytes at the start of a file that determine its media type. */
export const typeBytes = 64;

interface MediaType {
  readonly type: string;
  readonly extension: string;
  /** Returns whether a file has this type. `start`: the first bytes of the file, read as Latin-1. */
  readonly matches: (start: string) => boolean;
}

const startsWith =
  (...signatures: readonly string[]) =>
  (start: string): boolean =>
    signatures.some((signature) => start.startsWith(signature));

/** Matches a RIFF container. The form follows the size of the file. */
const isRiff = (form: string) => (start: string) =>
  start.startsWith('RIFF') && start.startsWith(form, 8);

/** Matches an ISO base media file. The brand follows the size of the first box. */
const isIso =
  (...brands: readonly string[]) =>
  (start: string): boolean =>
    start.startsWith('ftyp', 4) && brands.some((brand) => start.startsWith(brand, 8));

/**
 * Media types that the archive stores. SVG and HTML are not included, because they can contain scripts. Sources:
 * https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern, https://mp4ra.org/registered-types/brands,
 * RFC 9649 (WebP), RFC 9639 (FLAC), https://www.matroska.org/technical/elements.html (DocType)
 */
const known: readonly MediaType[] = [
  { type: 'image/jpeg', extension: 'jpg', matches: startsWith('\xff\xd8\xff') },
  { type: 'image/png', extension: 'png', matches: startsWith('\x89PNG\r\n\x1a\n') },
  { type: 'image/gif', extension: 'gif', matches: startsWith('GIF87a', 'GIF89a') },
  { type: 'image/webp', extension: 'webp', matches: isRiff('WEBPVP') },
  { type: 'image/avif', extension: 'avif', matches: isIso('avif', 'avis') },
  { type: 'audio/mp4', extension: 'm4a', matches: isIso('M4A ', 'M4B ') },
  { type: 'video/quicktime', extension: 'mov', matches: isIso('qt  ') },
  {
    type: 'video/mp4',
    extension: 'mp4',
    matches: isIso('iso', 'mp4', 'avc1', 'dash', 'M4V', 'MSNV', 'f4v ', '3gp'),
  },
  {
    type: 'video/webm',
    extension: 'webm',
    matches: (start) => start.startsWith('\x1a\x45\xdf\xa3') && start.includes('\x42\x82\x84webm'),
  },
  { type: 'audio/ogg', extension: 'ogg', matches: startsWith('OggS\0') },
  { type: 'audio/wav', extension: 'wav', matches: isRiff('WAVE') },
  { type: 'audio/flac', extension: 'flac', matches: startsWith('fLaC') },
  // A tag, or the header of a frame: MPEG-1, MPEG-2 or MPEG-2.5, layer 3.
  {
    type: 'audio/mpeg',
    extension: 'mp3',
    matches: startsWith('ID3', '\xff\xfb', '\xff\xfa', '\xff\xf3', '\xff\xf2', '\xff\xe3'),
  },
];

/** Returns the media type of a file with these first bytes; `null` if the archive does not store files of its type. */
export function detectMediaType(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, typeBytes);
  return known.find(({ matches }) => matches(start))?.type ?? null;
}

/** Returns the file extension of a media type, without a dot. */
export const extensionOf = (mediaType: string): string =>
  known.find(({ type }) => type === mediaType)?.extension ?? 'bin';

/** All media types that the archive stores. */
export const mediaTypes: readonly string[] = known.map(({ type }) => type);
