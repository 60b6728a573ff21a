import { describe, expect, it } from 'vitest';
import { toMarkdown } from '../../../../src/answers/engine/excerpt.ts';
import { readMarkdown, readMdx, toPlainHeading } from '../../../../src/answers/readers/markdown.ts';

describe('readMarkdown', () => {
  it('returns sections with their trail and lines', () => {
    const text =
      '# Server\n\nIntro.\n\n## Options\n\n### `bodyLimit`\n\nDefault: 1 MiB.\n\n## Methods\n';

    const { title, sections } = readMarkdown(text);

    expect(title).toBe('Server');
    expect(
      sections.map(({ heading, trail, line, endLine }) => [heading, trail, line, endLine]),
    ).toEqual([
      ['Server', [], 1, 4],
      ['Options', ['Server'], 5, 6],
      ['`bodyLimit`', ['Server', 'Options'], 7, 10],
      ['Methods', ['Server'], 11, 12],
    ]);
  });

  it('distinguishes paragraphs, items, rows and code', () => {
    const text = [
      'A paragraph',
      'of two lines.',
      '',
      '- one',
      '  - two',
      '',
      '| name | default |',
      '| --- | --- |',
      '| `port` | 8080 |',
      '',
      '```js',
      '# no heading',
      '',
      'run()',
      '```',
    ].join('\n');

    const { sections } = readMarkdown(text);

    expect(sections[0]?.blocks).toEqual([
      { kind: 'text', text: 'A paragraph\nof two lines.', line: 1, endLine: 2 },
      { kind: 'item', text: 'one', line: 4, endLine: 4 },
      { kind: 'item', text: 'two', line: 5, endLine: 5 },
      { kind: 'row', text: '`port`: 8080', line: 9, endLine: 9 },
      { kind: 'code', text: '# no heading\n\nrun()', line: 11, endLine: 15, language: 'js' },
    ]);
  });

  it('leaves out what follows the language of a block', () => {
    const { sections } = readMarkdown('```sh no-run="needs Docker"\ndocker ps\n```\n');

    expect(toMarkdown(sections[0]?.blocks ?? [])).toBe('```sh\ndocker ps\n```');
  });

  it('reads title and description from front matter, and keeps line numbers', () => {
    const text =
      '---\ntitle: Routes\ndescription: How routes match.\n---\n\n## Order\n\nFirst wins.\n';

    const { title, sections } = readMarkdown(text);

    expect(title).toBe('Routes');
    expect(sections.map(({ heading, line }) => [heading, line])).toEqual([
      ['', 1],
      ['Order', 6],
    ]);
    expect(sections[0]?.blocks[0]?.text).toBe('How routes match.');
  });

  it.each(['---\na: [\n---\ntext', '---\n- 1\n---\ntext', '---\ntitle: 5\n---\ntext'])(
    'ignores invalid front matter: %j',
    (text) => {
      expect(readMarkdown(text)).toMatchObject({
        title: '',
        sections: [{ blocks: [{ text: 'text' }] }],
      });
    },
  );

  it('removes tags from text, but not from code spans', () => {
    const { sections } = readMarkdown(
      '## Link <a id="x"></a>\n\nUse <b>the</b> `<Link>` tag.<!-- no -->\n',
    );

    expect(sections[0]?.heading).toBe('Link');
    expect(sections[0]?.blocks[0]?.text).toBe('Use the `<Link>` tag.');
  });

  it('parses underlined headings', () => {
    expect(readMarkdown('Title\n=====\n\nText\n').title).toBe('Title');
  });
});

it.each([
  ['Get a key', 'Get a key'],
  ['`bodyLimit`', 'bodyLimit'],
  ['The `--output` option', 'The --output option'],
  ['``a ` b``', 'a ` b'],
  ['`**kwargs` and *args*', '**kwargs and args'],
  ['**Bold**, _slanted_ and ~~struck~~', 'Bold, slanted and struck'],
  ['[Limits](./limits.md#x "t") of `q`', 'Limits of q'],
  ['![a logo](x.png) Perch', 'a logo Perch'],
  ['[brackets] alone', '[brackets] alone'],
  ['PERCH_DATA_DIR and snake_case', 'PERCH_DATA_DIR and snake_case'],
  ['Q&amp;A \\*literal\\*', 'Q&A *literal*'],
  ['a < b', 'a < b'],
  ['x'.repeat(501).concat('`y`'), 'x'.repeat(501).concat('`y`')],
])('toPlainHeading converts %s to %s', (markdown, shown) => {
  expect(toPlainHeading(markdown)).toBe(shown);
});

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
