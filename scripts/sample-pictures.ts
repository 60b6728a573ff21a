import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';

/**
 * Renders the drawings in `scripts/sample-pictures/` to the WebP files of the sample, with the browser at the path
 * `PERCH_BROWSER`. Replaces the hashes of changed files in the records of the sample. Prints the hash and the size in
 * bytes of each file. To render only some of the drawings, pass parts of their names as arguments.
 */
const drawingFolder = 'scripts/sample-pictures';
const pictureFolder = 'resources/sample/pictures';
const recordFiles = ['resources/sample/accounts.json', 'resources/sample/posts.json'];

/** Quality of the WebP files, from 0 to 1. */
const quality = 0.6;

const names = process.argv.slice(2);
const drawings = readdirSync(drawingFolder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.svg'))
  .filter((path) => names.length === 0 || names.some((name) => path.includes(name)))
  .toSorted();
const browser = await chromium.launch({
  executablePath: process.env.PERCH_BROWSER ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const page = await browser.newPage();
  for (const drawing of drawings) await renderFile(page, drawing);
} finally {
  await browser.close();
}

async function renderFile(page: Page, drawing: string): Promise<void> {
  const path = join(pictureFolder, drawing.replace(/\.svg$/, '.webp'));
  const picture = await render(page, readFileSync(join(drawingFolder, drawing), 'utf8'));
  const hash = hashOf(picture);
  if (existsSync(path)) replaceInRecords(hashOf(readFileSync(path)), hash);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, picture);
  process.stdout.write(`${hash} ${picture.length} ${path}\n`);
}

/** Renders an SVG document in its own size. Returns the content of a WebP file. */
async function render(page: Page, svg: string): Promise<Buffer> {
  const url = await page.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(`data:image/svg+xml,${encodeURIComponent(svg)}`)};
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    canvas.getContext('2d', { alpha: false }).drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', ${quality});
  })()`);
  return toSimpleWebp(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'));
}

/** Removes all chunks of a lossy WebP file except the picture (RFC 9649 §2.5). Chromium adds a color profile. */
function toSimpleWebp(file: Buffer): Buffer {
  const start = file.indexOf('VP8 ', 12, 'latin1');
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  const chunk = file.subarray(start, start + 8 + file.readUInt32LE(start + 4));
  const picture = chunk.length % 2 === 0 ? chunk : Buffer.concat([chunk, Buffer.alloc(1)]);
  head.writeUInt32LE(4 + picture.length, 4);
  return Buffer.concat([head, picture]);
}

function replaceInRecords(old: string, hash: string): void {
  if (old === hash) return;
  for (const file of recordFiles) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(old, hash));
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
