import { expect, it } from 'vitest';
import { readCsvRows } from '../../../../src/archive/imports/ndjson/lines.ts';

async function readAll(text: string, bytes: number) {
  async function* chunks() {
    const whole = Buffer.from(text);
    for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
  }
  const rows = [];
  for await (const found of readCsvRows(chunks())) rows.push(...found);
  return rows.map((row) => (row.kind === 'cells' ? row.cells : row.kind));
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
