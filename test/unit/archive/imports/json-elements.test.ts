import { describe, expect, it } from 'vitest';
import {
  type JsonElement,
  jsonElements,
  maxElementBytes,
} from '../../../../src/archive/imports/records.ts';
import { fc, runs } from '../../../support/fast-check.ts';

async function read(
  file: string | Uint8Array,
  { start, chunkBytes = 7 }: { start?: RegExp; chunkBytes?: number } = {},
): Promise<readonly JsonElement[]> {
  const bytes = Buffer.from(file);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const elements: JsonElement[] = [];
  for await (const some of jsonElements(chunks(), start ? { start } : {})) elements.push(...some);
  return elements;
}

const valuesOf = (elements: readonly JsonElement[]) =>
  elements.map((element) => (element.kind === 'value' ? element.value : element.reason));

const broken = 'It is not valid JSON.';

describe('the elements of a JSON array', () => {
  it('equal those of JSON.parse for any chunks', async () => {
    const array = fc.array(fc.json().map((json) => JSON.parse(json)));
    await fc.assert(
      fc.asyncProperty(
        array,
        fc.integer({ min: 1, max: 40 }),
        fc.nat(4),
        async (all, size, gap) => {
          const elements = await read(JSON.stringify(all, null, gap), { chunkBytes: size });

          expect(valuesOf(elements)).toEqual(all.map(toClean));
        },
      ),
    );
  });

  it('have their index in the array', async () => {
    const file = '\ufeffwindow.YTD.tweets.part0 = [\r\n  {"a":1},\r\n  {"b":2}\r\n]';

    expect(await read(file)).toEqual([
      { kind: 'value', value: { a: 1 }, index: 0 },
      { kind: 'value', value: { b: 2 }, index: 1 },
    ]);
  });

  it('do not depend on the chunks, even if they are invalid', async () => {
    const record = fc.record({
      id: fc.string(),
      tags: fc.array(fc.record({ id: fc.constantFrom('}', '},{', '\\', '"', '\ud83d') })),
    });
    const written = fc
      .tuple(fc.array(record, { minLength: 3, maxLength: 40 }), fc.constantFrom(0, 2))
      .map(([records, gap]) => JSON.stringify(records, null, gap));
    const damage = fc.tuple(
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', '"', '},{"id":', '\0', ']', '}'),
    );
    const broken = fc.tuple(written, fc.array(damage, { maxLength: 3 })).map(([text, all]) =>
      all.reduce((left, [where, length, put]) => {
        const at = where % left.length;
        return left.slice(0, at) + put + left.slice(at + length);
      }, text),
    );
    await fc.assert(
      fc.asyncProperty(broken, fc.integer({ min: 50, max: 3000 }), async (file, chunkBytes) => {
        expect(await read(file, { chunkBytes })).toEqual(await read(file, { chunkBytes: 1 }));
      }),
      { numRuns: runs(500) },
    );
  });

  it('belong to the array that the pattern finds', async () => {
    const file = JSON.stringify({
      title: '"items":[0]',
      other: ['no'],
      items: [1, { items: [2] }],
      last: [3],
    });

    const found = await read(file, { start: /"items"\s*:\s*\[/ });

    expect(valuesOf(found)).toEqual([1, { items: [2] }]);
  });

  it.each([
    ['an unclosed list', '[{"a":[1},{"b":2}]', [broken, { b: 2 }]],
    ['an unclosed object', '[{"a":{"c":1},{"b":2}]', [broken, { b: 2 }]],
    ['an unclosed string', '[{"a":"1}\n,{"b":2}]', [broken, { b: 2 }]],
    ['no value', '[{"a":},{"b":2}]', [broken, { b: 2 }]],
    ['a word', '[oops,{"b":2}]', [broken, { b: 2 }]],
    ['nothing between commas', '[,{"b":2},,]', [{ b: 2 }]],
    ['a stray closing', '[}{"a":1},{"b":2}]', [broken, { b: 2 }]],
  ])('are read after an element with %s', async (_name, file, expected) => {
    expect(valuesOf(await read(file))).toEqual(expected);
  });

  it('have U+FFFD for invalid text', async () => {
    const file = Buffer.concat([
      Buffer.from('[{"a":"\\ud83d x\\u0000"},'),
      Buffer.from('{"b":"'),
      Buffer.from([0xff, 0x00]),
      Buffer.from('"},\0{"c":"\\ud83d\\ude00"}\0]'),
    ]);

    expect(valuesOf(await read(file))).toEqual([
      { a: '\ufffd x\ufffd' },
      { b: '\ufffd\ufffd' },
      { c: '😀' },
    ]);
  });

  it.each([
    ['[{"a":1},{"b', [{ a: 1 }, 'The file ends in the middle of this record.']],
    ['[{"a":1}, ', [{ a: 1 }, 'The file ends before the end of its list.']],
    ['[', ['The file ends before the end of its list.']],
    ['window.YTD = {}', ['The file contains no list of records.']],
    ['', ['The file contains no list of records.']],
    ['[]', []],
  ])('include a fault for the truncated file %s', async (file, expected) => {
    expect(valuesOf(await read(file))).toEqual(expected);
  });

  it('are skipped above the maximum size', async () => {
    const large = JSON.stringify('x'.repeat(maxElementBytes));

    const elements = await read(`[1,${large},2]`, { chunkBytes: 65_536 });

    expect(valuesOf(elements)).toEqual([1, 'It is larger than 8 MiB.', 2]);
  });

  it('can be nested beyond the maximum depth', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;

    expect(await read(`[${deep},1]`)).toHaveLength(2);
  });

  it('can be nested thousands of times and contain NUL', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;

    const [element] = await read(`[{"name":"a\\u0000","deep":${deep}}]`);

    expect(element).toMatchObject({ kind: 'value', value: { name: 'a\ufffd' } });
  });
});

function toClean(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, member) =>
    typeof member === 'string' ? member.replace(/[\p{Surrogate}\0]/gu, '\ufffd') : member,
  );
  return JSON.parse(text);
}
