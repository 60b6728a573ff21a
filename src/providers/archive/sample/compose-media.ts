import type { Media } from '../../../model/media.ts';
import type { MediaDraft } from './drafts.ts';

/** Gives a media item with made-up addresses under `.example`. */
export function composeMedia(draft: MediaDraft): Media {
  const [width, height] = draft.size ?? [null, null];
  const shared = { type: draft.kind, width, height, alt: draft.alt ?? null };
  const duration = draft.seconds ?? null;
  switch (draft.kind) {
    case 'photo':
      return { ...shared, url: pictureUrl(draft.name) };
    case 'audio':
      return { ...shared, url: `https://sounds.example/${draft.name}.mp3`, duration };
    case 'gif':
    case 'video':
      return { ...shared, ...composeFootage(draft.name), duration };
  }
}

/** Gives the made-up address of a picture. */
export function pictureUrl(name: string): string {
  return `https://pictures.example/${name}.jpg`;
}

function composeFootage(name: string): Pick<Media, 'url' | 'thumbnail_url' | 'variants'> {
  const url = `https://videos.example/${name}.mp4`;
  const stream = `https://videos.example/${name}.m3u8`;
  return {
    url,
    thumbnail_url: pictureUrl(`${name}-still`),
    variants: [
      { url, content_type: 'video/mp4', bitrate: 2176000 },
      { url: stream, content_type: 'application/x-mpegURL', bitrate: null },
    ],
  };
}
