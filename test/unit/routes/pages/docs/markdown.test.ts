import { beforeAll, describe, expect, it } from 'vitest';
import { createMarkdown } from '../../../../../src/routes/pages/docs/markdown.ts';
import { parseHtml } from '../../../../support/render-html.ts';

let read: Awaited<ReturnType<typeof createMarkdown>>;
beforeAll(async () => {
  read = await createMarkdown();
});

const resolve = (target: string) =>
  target.startsWith('keys.md') ? target.replace('keys.md', '/docs/keys') : null;
const render = (source: string) => parseHtml(read(source, resolve).html);
const attributesOf = (source: string, wanted: string) =>
  render(source).elements.flatMap(({ tag, attributes }) => (tag === wanted ? [attributes] : []));

describe('a Markdown document', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '![x](https://example.org/x.png)',
    '![<img src=x>](x.png "onload=y")',
    '`<script>alert(1)</script>`',
    '```sh\n</code></pre><script>alert(1)</script>\n```',
    '```"><script>alert(1)</script>\ncode\n```',
    '```\n{"x": "</code><script>"}\n```',
    '# <script>alert(1)</script>\n\n## "><img src=x onerror=alert(1)>',
    '[<b onclick=x>](keys.md#"><script>)',
    '[x](other.md"><script>)',
    '<https://example.org/"onclick="x>',
    '| <script> |\n| --- |\n| <b style="x"> |',
    '&lt;script&gt;',
  ])('renders hostile text as text: %j', (source) => {
    const { elements } = render(source);

    const bad = elements.filter(
      ({ tag, attributes }) =>
        ['script', 'img', 'b', 'style', 'iframe'].includes(tag) ||
        Object.entries(attributes).some(
          ([name, value]) =>
            name.startsWith('on') ||
            name === 'style' ||
            /^(?:javascript|data|vbscript):/i.test(value),
        ),
    );
    expect(bad).toEqual([]);
  });

  it('converts links between files to links between pages, and others to text', () => {
    const source =
      '[a](keys.md#b) [c](../src/x.ts) [d](#e) [f](https://example.org/) [g](mailto:x@example.org)';

    const { elements } = render(source);

    expect(
      elements.flatMap(({ tag, attributes }) => (tag === 'a' ? [attributes.href] : [])),
    ).toEqual(['/docs/keys#b', '#e', 'https://example.org/', 'mailto:x@example.org']);
    expect(elements.find(({ tag }) => tag === 'span')).toMatchObject({
      text: 'c',
      attributes: { class: 'in-repository', title: '../src/x.ts, in the repository' },
    });
  });

  it('removes the title from the HTML and returns the sections with their text', () => {
    const document = read(
      '# Keys `x`\n\nFirst\nline.\n\n## Get one\n\n```sh\nls\n```\n\n| a | b |\n| --- | --- |\n| c | d |\n',
      resolve,
    );

    expect(parseHtml(document.html).elements.some(({ tag }) => tag === 'h1')).toBe(false);
    expect(document.sections).toEqual([
      { heading: { level: 1, text: 'Keys x', id: 'keys-x' }, text: 'First line.' },
      { heading: { level: 2, text: 'Get one', id: 'get-one' }, text: 'ls\n\na\nb\nc\nd' },
    ]);
  });

  it('gives headings unique ids as GitHub does', () => {
    const source =
      '## invalid_key\n\n## What’s `v1`?\n\n## Same\n\n## Same\n\n## Same 1\n\n## é — ü\n\n## !!!';

    expect(attributesOf(source, 'h2').map(({ id }) => id)).toEqual([
      'invalid_key',
      'whats-v1',
      'same',
      'same-1',
      'same-1-1',
      'é--ü',
      'section',
    ]);
  });

  it('aligns columns with classes', () => {
    expect(attributesOf('| a | b |\n| ---: | --- |\n| c | d |', 'td')).toEqual([
      { class: 'align-right' },
      {},
    ]);
  });

  it('shows the language of a block at most, and not its marks', () => {
    const { html } = read('```sh no-run="needs Docker"\ndocker ps\n```\n', resolve);

    expect(html).not.toMatch(/no-run|needs/);
    expect(parseHtml(html).elements.map(({ attributes }) => attributes.class)).toContain(
      'language-sh',
    );
  });

  it('gives tables of variables the roles of their parts, and no other table', () => {
    const rolesOf = (header: string) =>
      render(`| ${header} |\n| --- | --- |\n| \`A\` | |\n`).elements.flatMap(
        ({ attributes }) => attributes.role ?? [],
      );

    expect(rolesOf('variable | default')).toEqual([
      'table',
      ...['rowgroup', 'row', 'columnheader', 'columnheader'],
      ...['rowgroup', 'row', 'cell', 'cell'],
    ]);
    expect(rolesOf('parameter | default')).toEqual([]);
    expect(rolesOf('variable | meaning')).toEqual([]);
  });

  it('joins a command and its output', () => {
    const blocks = attributesOf('```sh\nls\n```\n\n```\nx\n```\n\nText.\n\n```\ny\n```', 'div');

    expect(blocks.map((attributes) => attributes.class)).toEqual([
      'code has-output',
      'code output',
      'code',
    ]);
  });

  it('highlights code without changing it', () => {
    const code = `PORT=1 curl -s 'http://x' "$URL" | jq . # <note>\n`;

    const { elements, text } = render(`\`\`\`sh\n${code}\`\`\``);

    expect(text.trim()).toBe(code.trim());
    const parts = elements.filter(({ tag }) => tag === 'span');
    expect(parts.map(({ attributes, text: part }) => [attributes.class, part])).toEqual([
      ['t-name', 'PORT'],
      ['t-option', '-s'],
      ['t-string', "'http://x'"],
      ['t-string', '"$URL"'],
      ['t-word', 'jq'],
      ['t-comment', '# <note>'],
    ]);
  });

  it.each([
    ['json', '{"a": [1, true, "x"]}'],
    ['http', 'HTTP/1.1 200 OK'],
    ['http', 'etag: "x"'],
    ['text', '# Thread by Ada'],
  ])('detects output in %s: %j', (language, code) => {
    const [attributes] = attributesOf(`\`\`\`\n${code}\n\`\`\``, 'code');

    expect(attributes?.class).toBe(`language-${language}`);
  });
});
