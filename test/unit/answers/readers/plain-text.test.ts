import { expect, it } from 'vitest';
import { readPlainText, readRestructuredText } from '../../../../src/answers/readers/plain-text.ts';

it('parses paragraphs, items, indented blocks and underlined headings', () => {
  const text =
    'NOTES\n=====\n\nOne\ntwo.\n\n1. first\n2. second\n\n    code()\n\n    more()\n\nLater\n-----\nend';

  const { title, sections } = readPlainText(text);

  expect(title).toBe('NOTES');
  expect(sections.map(({ heading, line, endLine }) => [heading, line, endLine])).toEqual([
    ['NOTES', 1, 13],
    ['Later', 14, 16],
  ]);
  expect(sections[0]?.blocks).toEqual([
    { kind: 'text', text: 'One two.', line: 4, endLine: 5 },
    { kind: 'item', text: 'first', line: 7, endLine: 7 },
    { kind: 'item', text: 'second', line: 8, endLine: 8 },
    { kind: 'code', text: 'code()\n\nmore()', line: 10, endLine: 12 },
  ]);
});

it('returns no sections for an empty text', () => {
  expect(readPlainText(' \n\n')).toEqual({ title: '', sections: [] });
});

it('parses adorned headings in the order in which they appear, roles, directives and code', () => {
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
