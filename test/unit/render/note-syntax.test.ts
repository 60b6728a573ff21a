import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../src/model/media.ts';
import { renderText } from '../../../src/render/markdown/text.ts';
import { cleanMarkdown, nestHeadings } from '../../../src/render/markdown/verbatim.ts';
import { renderPostNote } from '../../../src/render/obsidian.ts';
import { parseMarkdown, visibleText } from '../../support/render-markdown.ts';
import {
  account,
  article,
  furtherMembers,
  photo,
  result,
  status,
} from '../../support/render-posts.ts';

/** Renders a note in which every text is the given one. */
function noteOf(text: string): string {
  const author = account(text, text, { description: text, location: text });
  const post = status(1, author, text, {
    ...furtherMembers(text, 'https://a.example/1'),
    lang: text,
    source: text,
    content_warning: text,
    community_note: text,
    facets: [{ type: 'code', start: 0, end: [...text].length }],
    media: toMediaSet([photo('a', { alt: text })]),
    poll: { choices: [{ label: text, count: 1, percentage: 1 }], total_votes: 1, ends_at: null },
    article: article(text, {
      blocks: [
        { type: 'paragraph', text, styles: [] },
        { type: 'list_item', ordered: false, text, styles: [] },
        { type: 'quote', text, styles: [] },
        { type: 'heading', level: 2, text, styles: [] },
        { type: 'code', text },
        { type: 'markdown', text: `${text}\n\n\`${text}\`\n\n\`\`\`\n${text}\n\`\`\`` },
      ],
    }),
    quote: status(2, author, text),
    context: 'post',
  });
  const reply = status(3, author, text, { context: 'reply' });
  return renderPostNote(result([post, reply], { full: true, userDetail: 'all', warnings: [text] }));
}

describe('a note with text that note apps would run or hide', () => {
  it.each([
    '<% tp.date.now() %>',
    '<%* await x() %>',
    '<%_ x _%>',
    '<%~ x %>',
    '<%- x %>',
    '<<%%>',
  ])('has no command of Templater anywhere: %j', (text) => {
    expect(noteOf(text)).not.toContain('<%');
  });

  it.each(['^fog', 'Fog. ^a-1', 'Fog\n^JS', 'Fog 🐦 ^x'])('has no id of a block: %j', (text) => {
    const lines = noteOf(text).split('\n');
    const isFenced = (at: number) => lines[at - 1] === '```' || lines[at + 1] === '```';

    const ids = lines.filter((line, at) => /(?:^|\s)\^[\w-]+\s*$/.test(line) && !isFenced(at));

    expect(
      ids.filter((line) => !/^(?:title|author|handle|edited|lang|copied_from): /.test(line)),
    ).toEqual([]);
  });

  it.each([
    ['sure ^Bo', 'sure \\^Bo'],
    ['^', '\\^'],
    ['x^2 and 10^-3', 'x^2 and 10^-3'],
    ['due:: 2026-01-01', 'due\\:\\: 2026-01-01'],
    ['(hide::this) [so::too]', '(hide\\:\\:this) [so\\:\\:too]'],
    ['std::vector at 2001:db8::1', 'std::vector at 2001:db8::1'],
    ['5 <% 6', '5 &lt;% 6'],
    ['5 < 6%', '5 < 6%'],
  ])('writes %j as %j, and shows the same', (text, markdown) => {
    const rendered = renderText(text, []);

    expect(rendered).toBe(markdown);
    expect(visibleText(rendered)).toBe(text);
  });

  it.each(['= this.file.name', '$= dv.current()', ' =1+1'])(
    'shows the code %j as text, because Dataview would run it',
    (code) => {
      const rendered = renderText(code, [{ type: 'code', start: 0, end: code.length }]);

      expect(parseMarkdown(rendered).map(({ type }) => type)).not.toContain('code_inline');
    },
  );

  it('keeps other code', () => {
    const rendered = renderText('a = $b', [{ type: 'code', start: 0, end: 6 }]);

    expect(rendered).toBe('`a = $b`');
  });
});

it.each([
  ['```dataviewjs\ndv.list()\n```', '```\ndv.list()\n```'],
  ['```dataview\nlist\n```', '```\nlist\n```'],
  ['~~~query\nx\n~~~', '~~~\nx\n~~~'],
  ['```js run=1\nx\n```', '```\nx\n```'],
  ['```python\nx\n```', '```python\nx\n```'],
  ['```\n<%* x %>\n```', '```\n< %* x %>\n```'],
  ['Use `<%= x %>` or <%= y %>', 'Use `< %= x %>` or &lt;%= y %>'],
  ['Is `= x` or `$= y` or `a = 1`', 'Is `\\= x` or `\\$= y` or `a = 1`'],
  ['a `\n= x` b', 'a `\n\\= x` b'],
  ['It is %%gone%% and 100%', 'It is \\%\\%gone\\%\\% and 100%'],
  ['> [!note]- Fold\n> this', '> \\[!note]- Fold\n> this'],
  [
    '[![a](https://a.example/a.jpg)](https://a.example)',
    '[![a](https://a.example/a.jpg)](https://a.example)',
  ],
  ['The end ^id-1', 'The end \\^id-1'],
  ['key:: value, (a::b), std::vec', 'key\\:\\: value, (a\\:\\:b), std::vec'],
])('Markdown of a platform writes %j as %j', (markdown, expected) => {
  expect(cleanMarkdown(markdown, nestHeadings(1))).toBe(expected);
});
