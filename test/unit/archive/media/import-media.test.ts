import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openMediaFolder } from '../../../../src/archive/media/media-folder.ts';
import { openArchiveStore } from '../../../../src/archive/store/store.ts';
import type { Status } from '../../../../src/model/post.ts';
import { toActor, toCreate, toExportFiles } from '../../../support/exports/mastodon-export.ts';
import {
  hashOf,
  listStored,
  pictureUrl,
  toMp4,
  toPictureTweet,
  toPng,
  toVideoTweet,
  toXFiles,
  writeFiles,
} from '../../../support/exports/media-export.ts';
import { writeTar, writeTarGz } from '../../../support/exports/tar-file.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { runArchive, runHere } from '../../../support/run-here.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const base = 'https://perch.example';
const linkTo = (content: Buffer) => `${base}/media/sha256/${hashOf(content)}`;

function openStore(data: string) {
  const store = openArchiveStore(`${data}/archive.db`, base);
  onTestFinished(() => store.close());
  return store;
}

function readPost(data: string, id: string, handle: string | null = null): Status {
  const platform = handle === null ? 'x' : 'mastodon';
  const found = openStore(data).readPost(platform, id, handle)?.post;
  if (found?.type !== 'status') throw new Error(`There is no post ${id}.`);
  return found;
}

async function importFiles(data: string, files: ReadonlyMap<string, string | Buffer>) {
  return runArchive(data, 'import', writeFiles(temporaryFolder(), files));
}

const heron = toPng('heron');
const gate = toPng('gate');
const clip = toMp4('clip');
const avatar = toPng('avatar');

const files = toXFiles([toPictureTweet(20, 'one', 'two'), toVideoTweet(21)], {
  'tweets_media/20-one.jpg': heron,
  'tweets_media/20-two.jpg': heron,
  'tweets_media/21-clip.mp4': clip,
  'tweets_media/99-other.jpg': gate,
  'profile_media/1001-wren_normal.jpg': avatar,
});

describe('an import of an X export', () => {
  it.each([
    ['folder', (folder: string) => Promise.resolve(writeFiles(folder, files))],
    ['zip file', (folder: string) => writeZip(`${folder}/x.zip`, files)],
    [
      'zip file with a folder',
      (folder: string) => writeZip(`${folder}/x.zip`, files, 'twitter-1/'),
    ],
  ])('stores the media files of a %s once by content', async (_, write) => {
    const data = temporaryFolder();
    const path = await write(temporaryFolder());

    const { code, stdout, stderr } = await runArchive(data, 'import', path);

    expect([code, stderr]).toEqual([0, '']);
    const bytes = heron.length + clip.length + avatar.length;
    expect(stdout).toContain(`3 media files stored, ${bytes} bytes.\n`);
    expect(stdout).toContain('1 media file already stored.\n');
    expect(stdout).toContain('1 media file left out, because no imported post contains them.\n');
    expect(listStored(data)).toEqual([heron, clip, avatar].map(hashOf).sort());
    const stored = statSync(`${data}/media/${hashOf(heron).slice(0, 2)}/${hashOf(heron)}`);
    expect(stored.mode & 0o777).toBe(0o600);
    expect(statSync(`${data}/media`).mode & 0o777).toBe(0o700);
  });

  it('replaces the URLs of stored files in posts and accounts', async () => {
    const data = temporaryFolder();
    await importFiles(data, files);

    const [pictures, video] = [readPost(data, '20'), readPost(data, '21')];

    expect(pictures.media.photos.map(({ url }) => url)).toEqual([linkTo(heron), linkTo(heron)]);
    expect(pictures.author.avatar_url).toBe(linkTo(avatar));
    expect(pictures.author.banner_url).toBe('https://pictures.example/wren-header');
    // The export contains the smaller variant of the video only.
    expect(video.media.videos[0]).toMatchObject({
      url: linkTo(clip),
      thumbnail_url: 'https://pbs.twimg.com/ext_tw_video_thumb/1/pu/img/cover.jpg',
      variants: [{ url: 'https://video.twimg.com/best.mp4' }, { url: linkTo(clip) }],
    });
  });

  it('leaves the files out with --no-media, and stores them in a later import', async () => {
    const data = temporaryFolder();
    const folder = writeFiles(temporaryFolder(), files);

    const without = await runArchive(data, 'import', folder, '--no-media');

    expect([without.code, without.stdout]).toEqual([0, expect.not.stringContaining('media file')]);
    expect(existsSync(`${data}/media`)).toBe(false);
    expect(readPost(data, '20').media.photos[0]?.url).toBe(pictureUrl('one'));

    const later = await runArchive(data, 'import', folder);

    expect(later.stdout).toContain('already imported\n  3 media files stored');
    expect(readPost(data, '20').media.photos[0]?.url).toBe(linkTo(heron));
  });

  it('reads no file again that the archive has, and repairs a damaged one', async () => {
    const data = temporaryFolder();
    const folder = writeFiles(temporaryFolder(), files);
    await runArchive(data, 'import', folder);

    expect((await runArchive(data, 'import', folder)).stdout).toContain(
      '4 media files already stored.',
    );

    const path = `${data}/media/${hashOf(clip).slice(0, 2)}/${hashOf(clip)}`;
    writeFileSync(path, 'cut');
    await runArchive(data, 'import', folder);

    expect(statSync(path).size).toBe(clip.length);
  });

  it('keeps the posts, and leaves out the files over the limits', async () => {
    const data = temporaryFolder();
    const folder = writeFiles(
      temporaryFolder(),
      toXFiles([toPictureTweet(20, 'a', 'b', 'c')], {
        'tweets_media/20-a.jpg': toPng('a', 400),
        'tweets_media/20-b.jpg': toPng('b', 400),
        'tweets_media/20-c.jpg': toPng('c', 2000),
      }),
    );
    const env = {
      PERCH_DATA_DIR: data,
      PERCH_ARCHIVE_MEDIA_BYTES: '600',
      PERCH_ARCHIVE_MEDIA_FILE_BYTES: '1000',
    };

    const { code, stdout } = await runHere(['archive', 'import', folder, '--json'], env);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      posts: 1,
      media: { ended: 'done', stored: 1, bytes: 409, over_quota: 1, too_large: 1, missing: 0 },
    });
    expect(listStored(data)).toHaveLength(1);
    expect(readPost(data, '20').media.photos).toHaveLength(3);
  });

  it('stores pictures, videos and sounds only, whatever their names', async () => {
    const data = temporaryFolder();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
    const page = Buffer.from(`<!doctype html>${'x'.repeat(200)}`);
    const folder = writeFiles(
      temporaryFolder(),
      toXFiles([toPictureTweet(20, 'a', 'b', 'c')], {
        'tweets_media/20-a.jpg': svg,
        'tweets_media/20-b.jpg': page,
        'tweets_media/20-c.jpg': Buffer.alloc(0),
      }),
    );

    const { stdout } = await runArchive(data, 'import', folder);

    expect(stdout).toContain('3 media files left out, because they are not pictures');
    expect(listStored(data)).toEqual([]);
  });

  it('does not follow symbolic links', async () => {
    const data = temporaryFolder();
    const secret = `${temporaryFolder()}/secret.png`;
    writeFileSync(secret, heron);
    const folder = writeFiles(temporaryFolder(), toXFiles([toPictureTweet(20, 'a', 'b')], {}));
    mkdirSync(`${folder}/data/tweets_media`);
    symlinkSync(secret, `${folder}/data/tweets_media/20-a.jpg`);

    await runArchive(data, 'import', folder);

    expect(listStored(data)).toEqual([]);
  });

  it('deletes what an interrupted import left behind', async () => {
    const data = temporaryFolder();
    const folder = writeFiles(temporaryFolder(), files);
    await runArchive(data, 'import', folder);
    writeFileSync(`${data}/media/incoming/123-1`, 'half a file');
    const orphan = hashOf(gate);
    mkdirSync(`${data}/media/${orphan.slice(0, 2)}`, { recursive: true });
    writeFileSync(`${data}/media/${orphan.slice(0, 2)}/${orphan}`, gate);

    await runArchive(data, 'import', folder);

    expect(listStored(data)).toEqual([heron, clip, avatar].map(hashOf).sort());
  });
});

describe('an import of a Mastodon export', () => {
  const picture = (url: string) => ({ type: 'Document', mediaType: 'image/png', url });
  const members = [
    ...toExportFiles(
      [
        toCreate(1, 'One', { attachment: [picture('/media_attachments/files/1/original/a.png')] }),
        toCreate(2, 'Two', { attachment: [picture('media_attachments/files/2/original/b.png')] }),
        toCreate(3, 'Three', {
          attachment: [picture('/media_attachments/files/3/original/c.png')],
        }),
        toCreate(4, 'Four', {
          audience: 'direct',
          attachment: [picture('/media_attachments/files/4/original/d.png')],
        }),
      ],
      toActor(),
    ),
    { name: 'media_attachments/files/1/original/a.png', content: heron },
    { name: 'media_attachments/files/2/original/b.png', content: gate },
    { name: 'media_attachments/files/4/original/d.png', content: toPng('private') },
    { name: 'avatar.png', content: avatar },
  ];
  const handle = 'ada@social.example.org';

  it('stores the files, also of servers that the export does not name', async () => {
    const data = temporaryFolder();
    const path = `${temporaryFolder()}/archive.tar.gz`;
    writeFileSync(path, writeTarGz(members));

    const { code, stdout, stderr } = await runArchive(data, 'import', path);

    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('3 media files stored');
    expect(stdout).toContain('1 media file missing');
    expect(listStored(data)).toEqual([heron, gate, avatar].map(hashOf).sort());
    expect(readPost(data, '1', handle).media.photos[0]?.url).toBe(linkTo(heron));
    expect(readPost(data, '2', handle).media.photos[0]?.url).toBe(linkTo(gate));
    expect(readPost(data, '3', handle).media.all).toEqual([]);
    expect(readPost(data, '3', handle).author.avatar_url).toBe(linkTo(avatar));
  });

  it('never shows the placeholder of a file without an address', async () => {
    const data = temporaryFolder();
    const content = new Map(members.map(({ name, content }) => [name, content as string | Buffer]));
    const folder = writeFiles(temporaryFolder(), content);

    await runArchive(data, 'import', folder, '--no-media');

    const shown = JSON.stringify(readPost(data, '1', handle));
    expect(shown).not.toContain('export:');
    expect(readPost(data, '2', handle).media.photos[0]?.url).toBe(
      'https://social.example.org/system/media_attachments/files/2/original/b.png',
    );
  });
});

describe('removing an account', () => {
  it('deletes its files, except those of other accounts', async () => {
    const data = temporaryFolder();
    const other = toXFiles(
      [toPictureTweet(30, 'mine')],
      { 'tweets_media/30-mine.jpg': heron },
      { handle: 'Robin_Example' },
    );
    await importFiles(data, files);
    await importFiles(data, other);

    const { stdout } = await runArchive(data, 'remove', 'wren_example');

    expect(stdout).toContain('2 media files.');
    expect(listStored(data)).toEqual([hashOf(heron)]);
    await runArchive(data, 'remove', 'robin_example');
    expect(listStored(data)).toEqual([]);
  });
});

describe('an export as Markdown', () => {
  it('copies the files beside the notes, and links to them', async () => {
    const data = temporaryFolder();
    const notes = `${temporaryFolder()}/notes`;
    await importFiles(data, files);
    const exportNotes = () =>
      runArchive(data, 'export', 'wren_example', '--format', 'markdown', '--output', notes);

    const first = await exportNotes();

    expect([first.code, first.stderr]).toEqual([0, '']);
    const name = `${hashOf(heron)}.png`;
    expect(readFileSync(`${notes}/media/${name}`).equals(heron)).toBe(true);
    const note = readFileSync(`${notes}/2024/10/2024-10-01-20.md`, 'utf8');
    expect(note).toContain(`![Photo 1 of 2](../../media/${name})`);
    expect(readFileSync(`${notes}/2024/10/2024-10-01-21.md`, 'utf8')).toContain(
      `](../../media/${hashOf(clip)}.mp4)`,
    );
    expect(readFileSync(`${notes}/index.md`, 'utf8')).not.toContain('/media/sha256/');

    writeFileSync(`${notes}/media/${hashOf(gate)}.png`, gate);
    writeFileSync(`${notes}/media/mine.png`, gate);
    const again = await exportNotes();

    expect(again.stdout).toContain('0 files written, ');
    expect(again.stdout).toContain('1 removed');
    expect(readdirSync(`${notes}/media`)).toContain('mine.png');
  });
});

describe('an export as NDJSON', () => {
  it('contains the URLs on the platform, and can be imported again', async () => {
    const [data, other] = [temporaryFolder(), temporaryFolder()];
    await importFiles(data, files);
    const path = `${temporaryFolder()}/backup.ndjson`;

    await runArchive(data, 'export', '--output', path);
    await runArchive(other, 'import', path);
    await runArchive(data, 'import', path);

    expect(readFileSync(path, 'utf8')).not.toContain('/media/sha256/');
    expect(readPost(other, '20').media.photos[0]?.url).toBe(pictureUrl('one'));
    expect(readPost(data, '20').media.photos[0]?.url).toBe(linkTo(heron));
  });
});

const picture = toPng('heron', 3000);

/** Returns the path of a zip file whose only media file is `tweets_media/20-a.jpg`. */
const writePicture = (content: Buffer): Promise<string> =>
  writeZip(
    `${temporaryFolder()}/x.zip`,
    toXFiles([toPictureTweet(20, 'a')], { 'tweets_media/20-a.jpg': content }),
  );

function patch(path: string, from: Buffer, to: Buffer): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  writeFileSync(path, bytes);
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

it.each([
  ['smaller', 40],
  ['larger', 100_000],
])('leaves out a file that claims to be %s than it is', async (_, claimed) => {
  const data = temporaryFolder();
  const path = await writePicture(picture);
  patch(path, uint32(picture.length), uint32(claimed));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 post');
  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('leaves out a file that expands to far more than its compressed size', async () => {
  const data = temporaryFolder();
  const path = await writePicture(toPng('bomb', 80 * 2 ** 20));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('never uses a name in an export as a path', async () => {
  const data = `${temporaryFolder()}/data`;
  const url = 'media_attachments/files/../../../../evil.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: `/${url}` }];
  const path = `${temporaryFolder()}/archive.tar`;
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  writeFileSync(path, writeTar([...members, { name: url, content: picture }]));

  await runArchive(data, 'import', path);

  expect(listStored(data)).toEqual([hashOf(picture)]);
});

it('stores one of several files with the same name', async () => {
  const data = temporaryFolder();
  const name = 'media_attachments/files/1/original/a.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: name }];
  const path = `${temporaryFolder()}/archive.tar`;
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  const twice = [picture, toPng('other')].map((content) => ({ name, content }));
  writeFileSync(path, writeTar([...members, ...twice]));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file stored');
  expect(listStored(data)).toEqual([hashOf(picture)]);
});

it('leaves out the end of a truncated tar file', async () => {
  const data = temporaryFolder();
  const name = 'media_attachments/files/1/original/a.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: name }];
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  const whole = writeTar([...members, { name, content: picture }]);
  const path = `${temporaryFolder()}/archive.tar.gz`;
  writeFileSync(path, gzipSync(whole.subarray(0, whole.length - 1024 - 2000)));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('stores no files while another process stores files, and reports this', async () => {
  const data = temporaryFolder();
  const path = await writePicture(picture);
  mkdirSync(data, { recursive: true });
  const lock = openMediaFolder(data).lock();

  const locked = await runArchive(data, 'import', path);
  lock?.release();
  const later = await runArchive(data, 'import', path);

  expect([locked.code, locked.stdout]).toEqual([
    3,
    expect.stringContaining('Another import is storing media files.'),
  ]);
  expect([later.code, listStored(data)]).toEqual([0, [hashOf(picture)]]);
});

it('reads many files that no post contains', async () => {
  const data = temporaryFolder();
  const others = Array.from({ length: 3000 }, (_, index) => [
    `tweets_media/9-${index}.jpg`,
    picture,
  ]);
  const media = { ...Object.fromEntries(others), 'tweets_media/20-a.jpg': picture };
  const folder = writeFiles(temporaryFolder(), toXFiles([toPictureTweet(20, 'a')], media));

  const { stdout } = await runArchive(data, 'import', folder);

  expect(stdout).toContain('1 media file stored');
  expect(stdout).toContain('3,000 media files left out, because no imported post contains them.');
});
