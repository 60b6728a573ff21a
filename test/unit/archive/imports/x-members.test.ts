import { describe, expect, it } from 'vitest';
import { unknownFile } from '../../../../src/archive/imports/left-out.ts';
import { xFormat } from '../../../../src/archive/imports/x/x-format.ts';
import { readLeftOutLines } from '../../../support/exports/read-export.ts';
import { readX, writeXExport } from '../../../support/exports/read-x.ts';
import {
  leftOut,
  mediaFolders,
  otherFiles,
  samples,
} from '../../../support/exports/wide-x-export.ts';
import { writeExport } from '../../../support/exports/x-export.ts';

type Path = readonly (string | number)[];

function listLeaves(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, member]) =>
    listLeaves(member, [...path, isList ? Number(name) : name]),
  );
}

const printPath = (path: Path): string =>
  path
    .map((name, index) =>
      typeof name === 'number' ? `[${name}]` : `${index > 0 ? '.' : ''}${name}`,
    )
    .join('');

function changeAt(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return toOther(value);
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const members = copy as Record<string | number, unknown>;
  members[name] = changeAt(members[name], rest);
  return copy;
}

function toOther(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return 7;
  if (/^\d+$/.test(value)) return String(BigInt(value) + 1n);
  if (/ 2024$|^20\d\d-/.test(value))
    return value.replace(/ 2024$/, ' 2023').replace(/^20\d\d/, '2022');
  if (value === 'Protect') return 'Unprotect';
  return value.replace(/[a-z0-9](?=\W*$)/i, (last) => (last === 'q' ? 'z' : 'q'));
}

const toRecords = (records: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(records).map(([name, row]) => [name, [row as object]]));

/** Returns the imported content as text. The full text of the long post replaces the post's own text. */
async function readContent(records: Readonly<Record<string, unknown>>): Promise<string> {
  return JSON.stringify((await readX(toRecords(records))).items);
}

const isNamed = (path: string) =>
  Object.keys(leftOut).some(
    (name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`),
  );

/** Changes each member of the record of a file. Returns the members whose effect is not as `leftOut` says. */
async function findFaults(records: Readonly<Record<string, unknown>>, file: string) {
  const before = await readContent(records);
  const faults: string[] = [];
  for (const path of listLeaves(records[file])) {
    const after = await readContent({ ...records, [file]: changeAt(records[file], path) });
    const name = printPath([file, ...path]);
    const [isLost, isListed] = [after === before, isNamed(name)];
    if (isLost !== isListed) faults.push(`${name} is ${isLost ? 'lost' : 'on the list'}`);
  }
  return faults;
}

describe('every member of an X export', () => {
  // The links of a long post come from its full text, so other records are tested without one.
  const { 'note-tweet': _note, ...plain } = samples;

  it.each(Object.keys(plain))('reaches the archive or is on the list: %s', async (file) => {
    expect(await findFaults(plain, file)).toEqual([]);
  });

  it('reaches the archive or is on the list: full text of a long post', async () => {
    const records = { ...samples, tweets: shortened() };

    expect(await findFaults(records, 'note-tweet')).toEqual([]);
  });

  it('that is left out is in a sample', () => {
    const paths = Object.keys(samples).flatMap((file) =>
      listLeaves(samples[file]).map((path) => printPath([file, ...path])),
    );

    const unused = Object.keys(leftOut).filter(
      (name) =>
        !paths.some(
          (path) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`),
        ),
    );

    expect(unused).toEqual([]);
  });
});

function shortened(): unknown {
  const { tweet } = samples.tweets as { tweet: object };
  return { tweet: { ...tweet, full_text: '@heron see https://t.co/link1 #tide $SEA and this…' } };
}

it('every file of an X export is imported or has a reason', async () => {
  const others = Object.fromEntries(otherFiles.map((name) => [name, [{ odd: 'record' }]]));
  const records = { ...toRecords(samples), tweets: [shortened() as object] };
  const folder = writeXExport({ ...records, ...others });
  const media = mediaFolders.map((name): [string, string] => [`data/${name}/1-a.jpg`, 'a']);
  writeExport(folder, new Map(media));

  const lines = await readLeftOutLines(xFormat, folder);

  expect(lines.map((line) => line.split(' ')[0])).toEqual(
    [
      ...otherFiles.map((name) => `data/${name}.js`),
      ...mediaFolders.map((name) => `data/${name}/`),
    ].sort(),
  );
  expect(lines.filter((line) => line.endsWith(unknownFile))).toEqual([]);
});
