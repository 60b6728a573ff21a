import { expect, it } from 'vitest';
import { readRestructuredText } from '../../../../src/answers/readers/restructured-text.ts';

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
    ['open(path, mode)', ['Guide', 'Opening'], 12],
    ['Modes', ['Guide', 'Opening'], 18],
    ['Closing', ['Guide'], 24],
  ]);
  expect(sections[1]?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['text', 'Use `io.open` or `close()`. See the site.'],
  ]);
  expect(sections[2]?.blocks.map(({ kind, text: shown }) => [kind, shown])).toEqual([
    ['text', 'Opens a file:'],
    ['code', 'open("a")'],
  ]);
  expect(sections[3]?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['item', 'read'],
    ['item', 'write'],
  ]);
});

it('parses directives that document names into sections, with their members', () => {
  const text = [
    'API',
    '===',
    '',
    '.. py:class:: Door(width)',
    '',
    '   A door.',
    '',
    '   .. py:method:: open(key)',
    '      :async:',
    '',
    '      Opens it.',
    '',
    '      .. versionadded:: 2.0',
    '',
    '      .. code-block:: python',
    '',
    '         door.open(key)',
    '',
    '.. autofunction:: house.close',
    '',
    '.. data:: MAX_WIDTH',
    '',
    '    Default: ``3``',
    '',
    '.. a comment',
    '   of two lines',
  ].join('\n');

  const { sections } = readRestructuredText(text);

  expect(sections.map(({ heading, trail, defines }) => [heading, trail, defines])).toEqual([
    ['API', [], []],
    ['Door(width)', ['API'], ['Door']],
    ['open(key)', ['API', 'Door(width)'], ['Door.open', 'open']],
    ['house.close', ['API'], ['house.close', 'close']],
    ['MAX_WIDTH', ['API'], ['MAX_WIDTH']],
  ]);
  expect(sections[2]?.blocks.map(({ kind, text: shown }) => [kind, shown])).toEqual([
    ['text', 'Opens it.'],
    ['text', 'versionadded 2.0'],
    ['code', 'door.open(key)'],
  ]);
  expect(sections[4]?.blocks.map(({ text: shown, line }) => [shown, line])).toEqual([
    ['Default: `3`', 23],
  ]);
});
