import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createPictureStore,
  type PictureStore,
  type PictureStoreOptions,
} from '../../../../src/fetching/media/picture-store.ts';
import { systemRandom } from '../../../../src/lib/random.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';

const dayMs = 86_400_000;

function createFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'perch-pictures-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'media-cache');
}

interface Rig {
  readonly store: PictureStore;
  readonly failures: unknown[];
  readonly clock: ManualClock;
}

function openStore(folder: string | null, options: Partial<PictureStoreOptions> = {}): Rig {
  const failures: unknown[] = [];
  const clock = createManualClock();
  const defaults = { maxBytes: 1_000_000, random: systemRandom, clock };
  const onFailure = (error: unknown) => void failures.push(error);
  const store = createPictureStore({ folder, onFailure, ...defaults, ...options });
  onTestFinished(() => store.close());
  return { store, failures, clock };
}

const keyOf = (letter: string) => letter.repeat(64);
const pictureOf = (text: string, size = 100) => ({
  mediaType: 'image/png',
  bytes: Buffer.alloc(size, text),
});

async function readContent(store: PictureStore, letter: string): Promise<Buffer | null> {
  const content = (await store.read(keyOf(letter)))?.content ?? null;
  if (content === null || Buffer.isBuffer(content)) return content;
  const bytes = await content.readFile();
  await content.close();
  return bytes;
}

async function has(store: PictureStore, letter: string): Promise<boolean> {
  return (await readContent(store, letter)) !== null;
}

describe.each([
  ['on disk', createFolder],
  ['in memory', () => null],
])('a cache %s', (_, place) => {
  it('returns a stored picture', async () => {
    const { store, failures } = openStore(place());

    const written = await store.write(keyOf('a'), pictureOf('x'));
    const content = await readContent(store, 'a');

    const { mediaType, bytes } = pictureOf('x');
    expect(content?.equals(bytes)).toBe(true);
    expect(await store.find(keyOf('a'))).toMatchObject({
      mediaType,
      size: 100,
      hash: written.hash,
    });
    expect([await store.find(keyOf('b')), await store.read(keyOf('b'))]).toEqual([null, null]);
    expect(failures).toEqual([]);
  });

  it('deletes the least recently used pictures first', async () => {
    const { store } = openStore(place(), { maxBytes: 3 * 4096 });
    for (const letter of ['a', 'b', 'c']) await store.write(keyOf(letter), pictureOf(letter));
    await has(store, 'a');

    await store.write(keyOf('d'), pictureOf('d'));

    const kept = await Promise.all(['a', 'b', 'c', 'd'].map((letter) => has(store, letter)));
    expect(kept).toEqual([true, false, true, true]);
  });

  it('does not keep a picture that is larger than the cache', async () => {
    const { store, failures } = openStore(place(), { maxBytes: 4096 });

    await store.write(keyOf('a'), pictureOf('a', 4097));

    expect(await has(store, 'a')).toBe(false);
    expect(failures).toEqual([]);
  });

  it('keeps nothing if it may have no bytes', async () => {
    const { store } = openStore(place(), { maxBytes: 0 });

    await store.write(keyOf('a'), pictureOf('a'));

    expect(await has(store, 'a')).toBe(false);
  });

  it('keeps a picture for a week', async () => {
    const { store, clock } = openStore(place());
    await store.write(keyOf('a'), pictureOf('a'));
    await clock.advance(7 * dayMs - 1);
    expect(await has(store, 'a')).toBe(true);

    await clock.advance(1);

    expect(await has(store, 'a')).toBe(false);
  });

  it('deletes a picture on request', async () => {
    const { store } = openStore(place());
    await store.write(keyOf('a'), pictureOf('a'));

    await store.delete(keyOf('a'));

    expect(await has(store, 'a')).toBe(false);
  });
});

describe('a cache on disk', () => {
  it('has files that only their owner can read', async () => {
    const folder = createFolder();
    const { store } = openStore(folder);

    await store.write(keyOf('a'), pictureOf('a'));

    const [name = ''] = readdirSync(folder);
    expect(name).toMatch(/^a{64}-[0-9a-f]{32}\.png$/);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('creates no folder before the first picture', async () => {
    const folder = createFolder();
    const { store } = openStore(folder);

    await store.close();

    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  it('deletes the files of pictures that leave the cache', async () => {
    const folder = createFolder();
    const { store } = openStore(folder, { maxBytes: 4096 });

    for (const letter of ['a', 'b', 'c']) await store.write(keyOf(letter), pictureOf(letter));
    await store.write(keyOf('c'), pictureOf('other content'));
    await store.close();

    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('survives a restart, with the order of use and the age of its pictures', async () => {
    const folder = createFolder();
    const first = openStore(folder);
    for (const letter of ['a', 'b', 'c']) {
      await first.store.write(keyOf(letter), pictureOf(letter));
      await first.clock.advance(dayMs);
    }
    await has(first.store, 'a');
    await first.store.close();

    const { store } = openStore(folder, { maxBytes: 2 * 4096, clock: first.clock });

    const kept = await Promise.all(['a', 'b', 'c'].map((letter) => has(store, letter)));
    expect(kept).toEqual([true, false, true]);
    await first.clock.advance(4 * dayMs); // a week since the first picture was stored
    expect([await has(store, 'a'), await has(store, 'c')]).toEqual([false, true]);
  });

  it('deletes incomplete files at its start, and leaves the files of others', async () => {
    const folder = createFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '0123.part'), 'half a picture');
    writeFileSync(join(folder, 'notes.txt'), 'of the operator');
    const { store, failures } = openStore(folder);

    await has(store, 'a');

    expect(readdirSync(folder)).toEqual(['notes.txt']);
    expect(failures).toEqual([]);
  });

  it.each([
    ['is incomplete', (path: string) => truncateSync(path, 10)],
    ['was deleted', (path: string) => rmSync(path)],
  ])('misses a picture whose file %s', async (_, damage) => {
    const folder = createFolder();
    const { store, failures } = openStore(folder);
    await store.write(keyOf('a'), pictureOf('a'));
    const [name = ''] = readdirSync(folder);

    damage(join(folder, name));

    expect(await has(store, 'a')).toBe(false);
    await store.write(keyOf('a'), pictureOf('a'));
    expect(await has(store, 'a')).toBe(true);
    await store.close();
    expect(readFileSync(join(folder, name)).equals(pictureOf('a').bytes)).toBe(true);
    expect(failures).toEqual([]);
  });

  it('misses a picture whose file has other content after a restart', async () => {
    const folder = createFolder();
    const first = openStore(folder);
    await first.store.write(keyOf('a'), pictureOf('a'));
    await first.store.close();
    const [name = ''] = readdirSync(folder);
    writeFileSync(join(folder, name), Buffer.alloc(100, 'z'));

    const { store } = openStore(folder);

    expect([await has(store, 'a'), await has(store, 'a')]).toEqual([false, false]);
    await store.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('verifies the content of a file once, and finds its properties without reading it', async () => {
    const folder = createFolder();
    const first = openStore(folder);
    await first.store.write(keyOf('a'), pictureOf('a'));
    await first.store.close();
    const [name = ''] = readdirSync(folder);
    const { store } = openStore(folder);
    await has(store, 'a');
    const written = Buffer.alloc(100, 'z');
    writeFileSync(join(folder, name), written);

    const content = await readContent(store, 'a');

    expect(content?.equals(written)).toBe(true);
    truncateSync(join(folder, name), 0);
    expect(await store.find(keyOf('a'))).toMatchObject({ size: 100 });
  });

  it('returns pictures without storing them if the folder cannot be used', async () => {
    const folder = createFolder();
    writeFileSync(folder, 'a file in place of the folder');
    const { store, failures } = openStore(folder);

    const picture = await store.write(keyOf('a'), pictureOf('a'));

    expect(picture.content).toEqual(pictureOf('a').bytes);
    expect(await has(store, 'a')).toBe(false);
    expect(failures.length).toBeGreaterThan(0);
  });

  it.skipIf(process.getuid?.() === 0)('reports a folder that nobody may write to', async () => {
    const folder = createFolder();
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o500);
    const { store, failures } = openStore(folder);

    await store.write(keyOf('a'), pictureOf('a'));

    expect(await has(store, 'a')).toBe(false);
    expect(failures.length).toBeGreaterThan(0);
  });
});
