import { expect, it } from 'vitest';
import { readRestructuredText } from '../../../../src/answers/readers/restructured-text.ts';

it('reads adorned headings in the order in which they appear, roles, directives and code', () => {
  const text = [
    '=====',
    'Guide',
    '=====',
    '',
    '.. _label:',
    '',
    'Opening',
    '-------',
    '',
    'Use :func:`~io.open` or ``close()``. See `the site <https://example.com>`_.',
    '',
    '.. function:: open(path, mode)',
    '',
    '   Opens a file::',
    '',
    '       open("a")',
    '',
    'Modes',
    '~~~~~',
    '',
    '* read',
    '* write',
    '',
    'Closing',
    '-------',
  ].join('\n');

  const { title, sections } = readRestructuredText(text);

  expect(title).toBe('Guide');
  expect(sections.map(({ heading, trail, line }) => [heading, trail, line])).toEqual([
    ['Guide', [], 1],
    ['Opening', ['Guide'], 7],
    ['Modes', ['Guide', 'Opening'], 18],
    ['Closing', ['Guide'], 24],
  ]);
  expect(sections[1]?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['text', 'Use `io.open` or `close()`. See the site.'],
    ['item', '`open(path, mode)`'],
    ['text', 'Opens a file:'],
    ['code', '   open("a")'],
  ]);
  expect(sections[2]?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['item', 'read'],
    ['item', 'write'],
  ]);
});
