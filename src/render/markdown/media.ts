import type { Media } from '../../model/media.ts';
import { formatDuration, formatNumber, joinFacts, joinLines } from './layout.ts';
import { image, link, wrapLink } from './links.ts';

/** Renders photos as Markdown images and other media as links. `full` adds sizes and links to the best video files. */
export function renderMedia(all: readonly Media[], full: boolean): string[] {
  const positions = describePositions(all);
  return all.map((item, at) => {
    const shown = renderItem(item, labelFor(item, positions[at] ?? ''));
    if (!full) return shown;
    const { width, height, variants = [] } = item;
    const size = width === null || height === null ? null : `${width} × ${height} px`;
    return joinLines([shown, joinFacts([size, ...linkVariants(variants)])]);
  });
}

function renderItem(item: Media, label: string): string {
  const preview = item.thumbnail_url ?? null;
  if (item.type === 'photo') return image(label, item.url);
  if (preview === null || item.type === 'audio' || item.type === 'file')
    return link(label, item.url);
  return wrapLink(image(label, preview), item.url);
}

export const mediaNames = {
  photo: 'Photo',
  video: 'Video',
  gif: 'GIF',
  audio: 'Audio',
  file: 'File',
} as const;

/** Returns the name, media type and size of a file, such as `slides.pdf (application/pdf, 1.2 MB)`. */
export function describeFile({ name, content_type, size }: Media): string {
  const facts = [content_type, size === undefined ? undefined : formatBytes(size)];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  return `${name ?? ''}${known === '' ? '' : ` (${known})`}`.trim();
}

const sizeUnits = ['bytes', 'kB', 'MB', 'GB'] as const;

function formatBytes(bytes: number): string {
  // Rounded before the unit is chosen, so that 999,999 bytes are 1 MB and not 1000 kB.
  const rounded = bytes < 1000 ? bytes : Number(bytes.toPrecision(3));
  const power = Math.max(
    0,
    sizeUnits.findLastIndex((_unit, at) => rounded >= 1000 ** at),
  );
  return `${rounded / 1000 ** power} ${sizeUnits[power]}`;
}

/**
 * Returns a label such as `Video, 0:30: description` or, without a description, `Video 2 of 3,
 * 0:30`. The label of a photo with a description is the description alone.
 */
function labelFor(item: Media, position: string): string {
  const alt = item.alt?.trim() ?? '';
  if (item.type === 'photo') return alt === '' ? `Photo${position}` : alt;
  const duration = item.type === 'gif' ? null : (item.duration ?? null);
  const length = duration === null ? '' : `, ${formatDuration(duration)}`;
  if (item.type === 'file') {
    return ['File', describeFile(item), alt].filter((part) => part !== '').join(': ');
  }
  const name = mediaNames[item.type];
  return alt === '' ? `${name}${position}${length}` : `${name}${length}: ${alt}`;
}

/**
 * Returns the position of each media item among the items of its type, such as ` 2 of 3`. Returns an empty string
 * for the only item of a type.
 */
export function describePositions(all: readonly Media[]): readonly string[] {
  const counts = new Map<Media['type'], number>();
  const count = (type: Media['type']) => counts.set(type, (counts.get(type) ?? 0) + 1).get(type);
  const counted = all.map(({ type }) => [type, count(type)] as const);
  return counted.map(([type, position]) =>
    counts.get(type) === 1 ? '' : ` ${position} of ${counts.get(type)}`,
  );
}

const maxVariants = 3; // maximum number of linked files of a video, which has one file for each bit rate

function linkVariants(variants: NonNullable<Media['variants']>): string[] {
  return variants
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))
    .slice(0, maxVariants)
    .map(({ bitrate, content_type, url }) => {
      const rate = bitrate === null ? '' : ` ${formatNumber(Math.round(bitrate / 1000))} kbit/s`;
      return link(`${formatName(content_type)}${rate}`, url);
    });
}

function formatName(contentType: string | null): string {
  if (contentType === null) return 'File';
  return /mpegurl/i.test(contentType) ? 'HLS' : contentType.replace(/^.*\//, '').toUpperCase();
}
