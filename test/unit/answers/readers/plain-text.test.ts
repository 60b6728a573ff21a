import { expect, it } from 'vitest';
import { readPlainText } from '../../../../src/answers/readers/plain-text.ts';

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
