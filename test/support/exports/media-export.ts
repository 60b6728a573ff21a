import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exporter, makeTweet, makeXExport, toScript } from './x-export.ts';

/** Returns a file that starts like a PNG picture. */
export const toPng = (label: string, bytes = 200): Buffer =>
  Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    Buffer.from(label),
    Buffer.alloc(bytes),
  ]);

/** Returns a file that starts like an MP4 video. */
export const toMp4 = (label: string): Buffer =>
  Buffer.concat([
    Buffer.from('\0\0\0\x18ftypmp42', 'latin1'),
    Buffer.from(label),
    Buffer.alloc(200),
  ]);

export const hashOf = (content: Buffer): string =>
  createHash('sha256').update(content).digest('hex');

export const pictureUrl = (name: string): string => `https://pbs.twimg.com/media/${name}.jpg`;

/** Returns the post in `tweets.js` with these pictures. */
export function toPictureTweet(id: number, ...names: readonly string[]) {
  const media = names.map((name) => ({
    type: 'photo',
    url: 'https://t.co/x',
    media_url_https: pictureUrl(name),
    indices: ['0', '1'],
  }));
  return makeTweet(id, { extended_entities: { media } });
}

export const videoUrl = 'https://video.twimg.com/ext_tw_video/1/pu/vid/640x360/clip.mp4?tag=12';

/** Returns the post in `tweets.js` with a video in two variants. */
export function toVideoTweet(id: number) {
  const video = {
    type: 'video',
    url: 'https://t.co/v',
    media_url_https: 'https://pbs.twimg.com/ext_tw_video_thumb/1/pu/img/cover.jpg',
    indices: ['0', '1'],
    video_info: {
      variants: [
        { bitrate: '900', content_type: 'video/mp4', url: 'https://video.twimg.com/best.mp4' },
        { bitrate: '300', content_type: 'video/mp4', url: videoUrl },
      ],
    },
  };
  return makeTweet(id, { extended_entities: { media: [video] } });
}

/** Returns the files of an X export with some posts and further files in `data`. */
export function toXFiles(
  tweets: readonly object[],
  media: Readonly<Record<string, Buffer>>,
  options: { readonly handle?: string; readonly isProtected?: boolean } = {},
): ReadonlyMap<string, string | Buffer> {
  const { handle = exporter.handle, isProtected = false } = options;
  const files = new Map<string, string | Buffer>(makeXExport({ posts: 0, handle }));
  const rows = tweets.map((tweet) => JSON.stringify(tweet));
  files.set('data/tweets.js', toScript('tweets', rows));
  if (isProtected) {
    const change = { protectedAt: '2025-01-01T00:00:00.000Z', action: 'Protect' };
    const row = JSON.stringify({ protectedHistory: change });
    files.set('data/protected-history.js', toScript('protected_history', [row]));
  }
  for (const [name, content] of Object.entries(media)) files.set(`data/${name}`, content);
  return files;
}

/** Writes the files of an export to a folder, and returns the folder. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string | Buffer>): string {
  for (const [name, content] of files) {
    mkdirSync(dirname(`${folder}/${name}`), { recursive: true });
    writeFileSync(`${folder}/${name}`, content);
  }
  return folder;
}

/** Returns the hashes of the files in the media folder of a data folder, and the names of its temporary files. */
export function listStored(data: string): readonly string[] {
  const all = readdirSync(`${data}/media`, { recursive: true, encoding: 'utf8' });
  const files = all.filter((path) => /\/[0-9a-f]{64}$|^incoming\/./.test(path));
  return files.map((path) => path.slice(path.indexOf('/') + 1)).sort();
}
