/** Number of bytes at the start of a file that `detectMediaType` needs. */
export const mediaHeadBytes = 256;

/**
 * Returns the media type of a picture, video or audio file from its first `mediaHeadBytes` bytes;
 * `null` for all other content, such as SVG, HTML and BMP. Sources:
 * https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern,
 * https://mp4ra.org/registered-types/brands, RFC 9559 (WebM), RFC 3533 (Ogg), RFC 9639 (FLAC).
 */
export function detectMediaType(head: Uint8Array): MediaType | null {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, mediaHeadBytes));
  const start = text.toString('latin1'); // one character for each byte
  for (const [signature, mediaType] of signatures)
    if (start.startsWith(signature)) return mediaType;
  if (start.startsWith('RIFF')) return riffTypes.get(start.slice(8, 12)) ?? null;
  if (start.slice(4, 8) === 'ftyp') return typeOfBrands(start);
  if (start.startsWith('\x1aE\xdf\xa3')) return isWebm(start) ? 'video/webm' : null;
  return typeOfMpegAudio(head);
}

/** File extensions, without a dot, of all media types that `detectMediaType` returns. */
export const mediaExtensions = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
} as const;

type MediaType = keyof typeof mediaExtensions;

/** Returns an extension without a dot; `bin` for types that `detectMediaType` never returns. */
export const extensionOf = (mediaType: string): string =>
  Object.hasOwn(mediaExtensions, mediaType) ? mediaExtensions[mediaType as MediaType] : 'bin';

const signatures: readonly (readonly [string, MediaType])[] = [
  ['\xff\xd8\xff', 'image/jpeg'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'audio/ogg'],
  ['fLaC', 'audio/flac'],
];

const riffTypes: ReadonlyMap<string, MediaType> = new Map([
  ['WEBP', 'image/webp'],
  ['WAVE', 'audio/wav'],
]);

const brandTypes: ReadonlyMap<string, MediaType> = new Map([
  ['avif', 'image/avif'],
  ['avis', 'image/avif'],
  ['M4A ', 'audio/mp4'],
  ['M4B ', 'audio/mp4'],
  ['qt  ', 'video/quicktime'],
]);

const mp4Brand = /^(?:iso[m2-9]|mp4[12v]|avc1|M4V[ HP]|M4VH|MSNV|dash|f4v |cmf[c2]|3g[2p].)$/;

function typeOfBrands(start: string): MediaType | null {
  const end = Math.min(start.length, Buffer.from(start.slice(0, 4), 'latin1').readUInt32BE());
  const [major = '', , ...compatible] = start.slice(8, end).match(/.{4}/gs) ?? [];
  const known = brandTypes.get(major);
  if (known !== undefined) return known;
  if (mp4Brand.test(major)) return 'video/mp4';
  // A picture can have the general brand of pictures (`mif1`) first.
  return compatible.some((brand) => brand === 'avif' || brand === 'avis') ? 'image/avif' : null;
}

const isWebm = (start: string): boolean => /\x42\x82.webm/s.test(start);

function typeOfMpegAudio([first, second = 0, third = 0]: Uint8Array): MediaType | null {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  if (layer === 0) return (second & 0xf0) === 0xf0 ? 'audio/aac' : null;
  const isFrame = version !== 1 && third >> 4 !== 15 && ((third >> 2) & 3) !== 3;
  return isFrame ? 'audio/mpeg' : null;
}
