import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSample, readSamplePictures } from '../../../src/archive/sample.ts';
import { detectMediaType } from '../../../src/lib/files/media-type.ts';
import type { Status } from '../../../src/model/post.ts';

const prefix = 'perch:/media/sha256/';
const pictures = readSamplePictures();
const sample = readSample();
const statuses = sample.posts.map(({ post }) => post).filter((one) => one.type === 'status');
const accounts = sample.accounts.flatMap((one) => [one.avatar_url, one.banner_url]);

const imagesOf = ({ article }: Status) =>
  article?.blocks.filter((one) => one.type === 'image') ?? [];
const photosOf = (post: Status) => [...post.media.photos, ...imagesOf(post)];
const posterOf = (post: Status) => post.media.videos.map((one) => one.thumbnail_url ?? null);
const picturesOf = (post: Status) => [
  ...photosOf(post).map((one) => one.url),
  ...posterOf(post),
  ...[post.article?.cover_url ?? null, post.card?.image_url ?? null],
];
const urls = [...accounts, ...statuses.flatMap(picturesOf)].filter((url) => url !== null);
const isOwn = (url: string | null | undefined) => url?.startsWith(prefix) === true;

/** Reads the width and height of a lossy WebP file (RFC 9649 §2.5, RFC 6386 §9.1). */
function sizeOf(url: string) {
  const head = readFileSync(pictures.get(url.slice(prefix.length))?.path ?? '');
  expect(head.toString('latin1', 12, 16)).toBe('VP8 ');
  return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
}

describe('the pictures of the sample', () => {
  it('all have a file, and all files are used', () => {
    expect(urls.filter((url) => !isOwn(url))).toEqual([]);
    expect(new Set(urls.map((url) => url.slice(prefix.length)))).toEqual(new Set(pictures.keys()));
  });

  it.each([...pictures.values()])('is a WebP file with this hash: $hash', (picture) => {
    const content = readFileSync(picture.path);

    expect(createHash('sha256').update(content).digest('hex')).toBe(picture.hash);
    expect(content.length).toBe(picture.bytes);
    expect(detectMediaType(content)).toBe(picture.type);
  });

  it('have a drawing each', () => {
    const namesIn = (folder: string, extension: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith(extension))
        .map((name) => name.slice(0, -extension.length))
        .toSorted();

    expect(namesIn('resources/sample/pictures', '.webp')).toEqual(
      namesIn('scripts/sample-pictures', '.svg'),
    );
  });

  it('have 150 KB together', () => {
    const bytes = [...pictures.values()].reduce((sum, one) => sum + one.bytes, 0);

    expect(bytes).toBeLessThanOrEqual(150_000);
  });

  it('have the size that their posts state', () => {
    for (const { url, width, height } of statuses.flatMap(photosOf)) {
      expect({ url, width, height }).toEqual({ url, ...sizeOf(url) });
    }
  });

  it('have the media type that their posts state', () => {
    const types = statuses.flatMap((one) => one.media.photos).map((one) => one.content_type);

    expect(new Set(types)).toEqual(new Set(['image/webp']));
  });

  it('have the shape of the videos that they are taken from', () => {
    const videos = statuses.flatMap((one) => one.media.videos);
    const posters = videos.filter((one) => isOwn(one.thumbnail_url));

    expect(posters.length).toBeGreaterThanOrEqual(1);
    for (const { thumbnail_url, width, height } of posters) {
      const size = sizeOf(thumbnail_url ?? '');
      expect(size.width / size.height).toBeCloseTo(Number(width) / Number(height), 2);
    }
  });

  it('show all accounts, articles with images, linked pages and sensitive posts', () => {
    const covered = statuses.filter((one) => isOwn(one.article?.cover_url));
    const sensitive = statuses.filter((one) => one.possibly_sensitive);

    expect(sample.accounts.filter((one) => !isOwn(one.avatar_url))).toEqual([]);
    expect(sample.accounts.some((one) => isOwn(one.banner_url))).toBe(true);
    expect(covered.flatMap(imagesOf).length).toBeGreaterThanOrEqual(1);
    expect(statuses.some((one) => isOwn(one.card?.image_url))).toBe(true);
    expect(sensitive.some((one) => one.media.photos.length > 0)).toBe(true);
  });

  it('include wide, square and tall ones', () => {
    const shapes = statuses
      .flatMap((one) => one.media.photos)
      .map((one) => Math.sign(Number(one.width) - Number(one.height)));

    expect(new Set(shapes)).toEqual(new Set([-1, 0, 1]));
  });
});
