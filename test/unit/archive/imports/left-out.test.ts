import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExportItem } from '../../../../src/archive/imports/export-source.ts';
import {
  countElements,
  countLines,
  countRows,
  readLeftOut,
} from '../../../../src/archive/imports/left-out.ts';
import { readCsvRows } from '../../../../src/archive/imports/ndjson/lines.ts';
import { openExportFiles } from '../../../../src/archive/imports/open-files.ts';
import { xFormat } from '../../../../src/archive/imports/x/x-format.ts';
import { readLeftOutLines, toLines } from '../../../support/exports/read-export.ts';
import { makeXExport, toScript, writeExport } from '../../../support/exports/x-export.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

async function* inChunks(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
}

describe('the items of a file', () => {
  it.each([
    ['a script', toScript('like', ['{"a":["]",{}]}', '{}', '"x, y"']), 3, 'item'],
    ['a byte order mark', '\ufeffwindow.YTD.like.part0 = [{},{}]', 2, 'item'],
    ['an empty list', 'window.YTD.like.part0 = [ ]', 0, 'item'],
    ['an empty object', 'window.YTD.personalization = { }', 0, 'item'],
    ['an empty file', '', 0, 'byte'],
    ['a JSON list', '[1, 2, [3, 4]]', 3, 'item'],
    ['a trailing comma', '[1, 2, ]', 2, 'item'],
    ['a truncated list', '[{"a":1},{"a"', 2, 'item'],
    ['a collection', '{"@context":["a","b"],"orderedItems" : ["x","y"],"z":[1]}', 2, 'item'],
    ['an object', '{"a":[1,2]}', 11, 'byte'],
    ['a script of an object', 'window.a = {"b":[1]}', 20, 'byte'],
    ['text', 'a [1,2] b', 9, 'byte'],
  ])('are counted in %s', async (_name, text, count, unit) => {
    for (const bytes of [1, 7, 10_000]) {
      expect(await countElements(() => inChunks(text, bytes), Buffer.byteLength(text))).toEqual({
        count,
        unit,
      });
    }
  });

  it('are counted beyond the first chunk', async () => {
    const text = toScript('like', Array(5000).fill('{"like":{"tweetId":"1"}}'));

    expect(await countElements(() => inChunks(text, 1000), text.length)).toEqual({
      count: 5000,
      unit: 'item',
    });
  });

  it('are the lines of a text', async () => {
    const counted = await countLines(inChunks('{"a":"\\""}\r\n\r\n {}\n\n{', 2));

    expect(counted).toEqual({ count: 3, unit: 'line' });
  });

  it.each([
    ['rows', 'a,b\r\n\r\n c,d\n , \ne', 3],
    ['a row with line breaks in its cells', 'Birds,"wren\r\nrobin\n\nowl"\nTrees,elm', 2],
    ['a heading', 'Account address,Hide notifications\nlark@nest.example,true\n', 1],
    ['only a heading', '\ufeffAccount address,Hide notifications\r\n', 0],
    ['only the heading of a list of servers', '#domain,#severity\n', 0],
    ['a list without heading', 'marsh.example\nreed.example\n', 2],
  ])('are the rows of a table with %s', async (_name, text, count) => {
    for (const bytes of [1, 5, 1000]) {
      expect(await countRows(inChunks(text, bytes))).toEqual({ count, unit: 'line' });
    }
  });

  it('are counted in a file of unmatched brackets, without a search for each of them', async () => {
    const text = `[${'['.repeat(65_536)}${'}'.repeat(400_000)}`;

    expect(await countElements(() => inChunks(text, 65_536), text.length)).toEqual({
      count: 1,
      unit: 'item',
    });
  });
});

describe('the report of an import', () => {
  const files = () =>
    new Map([
      ...makeXExport({ posts: 2 }),
      ['data/like.js', toScript('like', ['{}', '{}'])],
      ['data/like-part1.js', toScript('like', ['{}'], 1)],
      ['data/mute.js', toScript('mute', [])],
      ['data/flight-plan.js', toScript('flight_plan', ['{}'])],
      ['data/tweets_media/1-a.png', 'a'],
      ['data/direct_messages_media/1-a.png', 'a'],
      ['data/direct_messages_media/2-b.png', 'b'],
      ['data/README.txt', 'About'],
      ['assets/js/viewer.js', 'run([1, 2])'],
      ['Your archive.html', '<p>'],
      ['diary.txt', 'Today'],
      ['__MACOSX/data/._like.js', '\0'],
      ['data/.DS_Store', '\0'],
    ]);
  const expected = [
    'data/direct-messages.js 1 item private messages',
    'data/direct_messages_media/ 2 file private messages',
    'data/flight-plan.js 1 item Perch does not import this file',
    'data/like-part1.js 1 item likes are private',
    'data/like.js 2 item likes are private',
    'diary.txt 5 byte Perch does not import this file',
  ];

  it('names each file with content that is not imported, in a folder', async () => {
    const folder = writeExport(temporaryFolder(), files());

    expect(await readLeftOutLines(xFormat, folder)).toEqual(expected);
  });

  it('names each file with content that is not imported, in a zip file', async () => {
    const zip = await writeZip(join(temporaryFolder(), 'x.zip'), files(), 'twitter/');

    const lines = await readLeftOutLines(xFormat, zip);

    expect(lines).toEqual(expected.map((line) => `twitter/${line}`));
  });

  it('shortens names and replaces their control characters', async () => {
    const name = `a\n${'b'.repeat(240)}.js`;
    const folder = writeExport(temporaryFolder(), new Map([[`x/${name}`, '[1]']]));

    const items: ExportItem[] = [];
    const files = await openExportFiles(folder);
    const rules = [[/^/, 'odd']] as const;
    for await (const group of readLeftOut(files, { folder: '', imported: [], rules }))
      items.push(...group);

    expect(toLines(items)).toEqual([`x/a\ufffd${'b'.repeat(196)} 1 item odd`]);
  });
});

async function readAll(text: string, bytes: number) {
  async function* chunks() {
    const whole = Buffer.from(text);
    for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
  }
  const rows = [];
  for await (const found of readCsvRows(chunks())) rows.push(...found);
  return rows.map((row) => row.cells ?? 'too long');
}

it.each([
  [
    'plain cells',
    'a,b\nc,d\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'quoted cells',
    '"a,b","c\nd"\r\n"e ""f""","g"',
    [
      ['a,b', 'c\nd'],
      ['e "f"', 'g'],
    ],
  ],
  ['empty cells', '"",,"a"\n', [['', '', 'a']]],
  ['empty lines', '\n\na\n\r\n', [['a']]],
  ['no end of the last quote', '"a,b\n', [['a,b\n']]],
  ['characters of several bytes', '"é🦉",東\n', [['é🦉', '東']]],
  ['nothing', '', []],
] as const)('reads %s', async (_name, text, rows) => {
  for (const bytes of [1, 2, 3, 1000]) expect(await readAll(text, bytes)).toEqual(rows);
});

it('omits the content of a row that is too long', async () => {
  const long = `"${'x'.repeat(2 ** 20 + 1)}",a\nb\n`;

  expect(await readAll(long, 50_000)).toEqual(['too long', ['b']]);
});
