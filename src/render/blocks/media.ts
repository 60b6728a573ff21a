import type { Media } from '../../model/media.ts';
import { toLine } from '../markdown/characters.ts';
import { formatDuration, formatNumber } from '../markdown/layout.ts';
import { link, type MediaItem, present, type Words } from './block.ts';

/** Returns the labelled media. `full` adds sizes and links to the best video files. */
export function toMediaItems(all: readonly Media[], full: boolean): MediaItem[] {
  const labels = describeMedia(all);
  return all.map((item, at) => {
    const alt = item.type === 'photo' ? toLine(item.alt ?? '').trim() : '';
    const label = labels[at] ?? '';
    return { item, label, caption: alt || label, details: full ? describeDetails(item) : [] };
  });
}

function describeDetails({ width, height, variants = [] }: Media): readonly Words[] {
  const size = width === null || height === null ? null : `${width} × ${height} px`;
  return present([size, ...linkVariants(variants)]);
}

const maxVariants = 3; // maximum number of linked files of a video, which has one file for each bit rate

function linkVariants(variants: NonNullable<Media['variants']>): Words[] {
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

/** Returns a label for each media item: its kind and the author's description. */
export function describeMedia(all: readonly Media[]): readonly string[] {
  const positions = describePositions(all);
  return all.map((item, at) => {
    const { type, alt, duration = null } = item;
    const said = toLine(alt ?? '');
    if (type === 'file') return join(['File', toLine(describeFile(item)), said]);
    const isTimed = (type === 'video' || type === 'audio') && duration !== null;
    const name = `${mediaNames[type]}${said === '' ? positions[at] : ''}`;
    const length = isTimed ? `, ${formatDuration(duration)}` : '';
    return join([`${name}${length}`, said]);
  });
}

const join = (parts: readonly string[]) => parts.filter((part) => part !== '').join(': ');

const mediaNames = {
  photo: 'Photo',
  video: 'Video',
  gif: 'GIF',
  audio: 'Audio',
  file: 'File',
} as const;

function describeFile({ name, content_type, size }: Media): string {
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

function describePositions(all: readonly Media[]): readonly string[] {
  const counts = new Map<Media['type'], number>();
  const count = (type: Media['type']) => counts.set(type, (counts.get(type) ?? 0) + 1).get(type);
  const counted = all.map(({ type }) => [type, count(type)] as const);
  return counted.map(([type, position]) =>
    counts.get(type) === 1 ? '' : ` ${position} of ${counts.get(type)}`,
  );
}
