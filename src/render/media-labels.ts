import type { Media } from '../model/media.ts';
import { toLine } from './markdown/characters.ts';
import { formatDuration } from './markdown/layout.ts';

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
