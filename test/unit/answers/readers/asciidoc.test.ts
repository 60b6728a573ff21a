import { expect, it } from 'vitest';
import { readAsciiDoc } from '../../../../src/answers/readers/asciidoc.ts';

it('parses headings, attributes, lists, admonitions, tables and blocks of code', () => {
  const text = [
    '= Door Guide',
    ':toc:',
    ':width: 3',
    '',
    'include::parts/intro.adoc[]',
    '',
    '[[opening]]',
    '== Opening a door',
    '',
    'Use xref:keys.adoc[a key] or see https://example.com/doors[the site].',
    '',
    'WARNING: Doors are heavy.',
    '',
    '* first',
    '** second',
    '',
    '--width:: How wide the door is.',
    '',
    '.Example',
    '[source,ruby]',
    '----',
    'door.open',
    '',
    '== no heading',
    '----',
    '',
    '// a comment',
    '////',
    'another',
    '////',
    '',
    '|===',
    '|Name |Meaning',
    '|`open` |It is open.',
    '|===',
    '',
    '=== Keys',
    'Text.',
  ].join('\n');

  const { title, sections } = readAsciiDoc(text);

  expect(title).toBe('Door Guide');
  expect(sections.map(({ heading, trail, line }) => [heading, trail, line])).toEqual([
    ['Door Guide', [], 1],
    ['Opening a door', ['Door Guide'], 8],
    ['Keys', ['Door Guide', 'Opening a door'], 37],
  ]);
  expect(sections[0]?.blocks.map((block) => block.text)).toEqual(['`width`: 3']);
  expect(sections[1]?.blocks.map((block) => [block.kind, block.text, block.line])).toEqual([
    ['text', 'Use a key or see the site.', 10],
    ['text', 'WARNING: Doors are heavy.', 12],
    ['item', 'first', 14],
    ['item', 'second', 15],
    ['item', '--width: How wide the door is.', 17],
    ['text', 'Example:', 19],
    ['code', 'door.open\n\n== no heading', 22],
    ['item', 'Name: Meaning', 33],
    ['item', '`open`: It is open.', 34],
  ]);
});
