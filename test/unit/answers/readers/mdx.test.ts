import { expect, it } from 'vitest';
import { readMdx } from '../../../../src/answers/readers/markdown.ts';

it('drops imports, exports and tags, and keeps the content of components', () => {
  const text = [
    "import { Note } from './note'",
    'export const meta = { a: 1 }',
    '',
    '# Caching',
    '',
    '<Note type="warning">',
    '  Entries **expire**.',
    '</Note>',
    '',
    '```tsx',
    "import cache from 'cache'",
    '<Cache />',
    '```',
  ].join('\n');

  const { sections } = readMdx(text);

  expect(sections).toHaveLength(1);
  expect(sections[0]).toMatchObject({ heading: 'Caching', line: 4 });
  expect(sections[0]?.blocks.map(({ kind, text }) => [kind, text])).toEqual([
    ['text', 'Entries **expire**.'],
    ['code', "import cache from 'cache'\n<Cache />"],
  ]);
});

it('converts the options that a component lists to list items', () => {
  const text = [
    '## Settings',
    '',
    '<PropertiesTable',
    '  content={[',
    '    {',
    "      name: 'maxRetries',",
    "      type: 'number',",
    '      description:',
    "        'How often a call is tried again. Default: 2.',",
    '    },',
    '  ]}',
    '/>',
    '',
    'After it.',
  ].join('\n');

  const texts = readMdx(text).sections.flatMap(({ blocks }) => blocks.map((block) => block.text));

  expect(texts.join('\n')).toContain('`maxRetries`');
  expect(texts.join('\n')).toContain('Default: 2.');
  expect(texts.at(-1)).toBe('After it.');
  expect(texts.join('\n')).not.toContain('PropertiesTable');
});
