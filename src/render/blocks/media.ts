import type { Media } from '../../model/media.ts';
import { toLine } from '../markdown/characters.ts';
import { formatNumber } from '../markdown/layout.ts';
import { describeMedia } from '../media-labels.ts';
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
