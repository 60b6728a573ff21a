import type { Media } from '../../../model/media.ts';
import type { Poll } from '../../../model/post.ts';
import { known } from '../../../platforms/known.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { toIsoTime } from '../../../platforms/times.ts';
import type { AttachmentPayload, NotePayload } from './payload.ts';

/** Gives an item of media; null where the export does not tell on which server its file is. */
export function shapeMedia(item: AttachmentPayload, host: string): Media | null {
  const url = fileUrl(item.url, host);
  if (url === null) return null;
  const { width, height } = item;
  return { type: typeOf(item), url, width, height, alt: item.name ?? item.summary };
}

/** A bare path is below `/system/` on the account's own server; one with a slash is on another one. */
function fileUrl(path: string, host: string): string | null {
  if (isWebUrl(path)) return path;
  if (path.startsWith('/') && !path.startsWith('/system/')) return null;
  const url = new URL(path, `https://${host}/system/`);
  return url.protocol === 'https:' && url.hostname === host ? url.href : null;
}

function typeOf({ mediaType }: AttachmentPayload): Media['type'] {
  const [kind] = (mediaType ?? '').split('/');
  return kind === 'video' || kind === 'audio' ? kind : 'photo';
}

/** Gives the poll of a `Question`; null for any other post. */
export function shapePoll({
  oneOf,
  anyOf,
  endTime,
  closed,
  votersCount,
}: NotePayload): Poll | null {
  const choices = oneOf ?? anyOf;
  if (choices === null) return null;
  const votes = choices.reduce((sum, { replies }) => sum + (replies ?? 0), 0);
  const base = anyOf === null ? votes : (votersCount ?? votes);
  return {
    choices: choices.map(({ name: label, replies: count }) => ({
      label,
      count,
      percentage: count === null ? null : toShare(count, base),
    })),
    total_votes: choices.some(({ replies }) => replies === null) ? null : votes,
    ...known({ total_voters: votersCount }),
    ends_at: toIsoTime(endTime ?? closed),
  };
}

function toShare(count: number, base: number): number {
  return base === 0 ? 0 : Math.round((1000 * count) / base) / 10;
}
