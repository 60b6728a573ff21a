import { expect, it } from 'vitest';
import { readHtml } from '../../../../src/answers/readers/html.ts';

it('parses headings, paragraphs, lists, terms, rows and code, without navigation', () => {
  const text = [
    '<html><head><title>git-clean(1)</title><style>h1 {}</style></head><body>',
    '<nav><a href="/">Home</a></nav>',
    '<h1>git-clean</h1>',
    '<p>Remove <code>untracked</code>',
    'files.</p>',
    '<h2 id="o">OPTIONS</h2>',
    '<dl><dt>-f</dt><dt>--force</dt><dd><p>Needed by default.</p><ul><li>Twice for folders.</li></ul></dd></dl>',
    '<table><tr><th>key</th><td>value</td></tr></table>',
    '<pre><code>git clean',
    '  -n</code></pre>',
    '<script>no()</script></body></html>',
  ].join('\n');

  const { title, sections } = readHtml(text);

  expect(title).toBe('git-clean(1)');
  expect(sections.map(({ heading, trail, line }) => [heading, trail, line])).toEqual([
    ['git-clean', [], 3],
    ['OPTIONS', ['git-clean'], 6],
  ]);
  expect(sections.flatMap(({ blocks }) => blocks)).toEqual([
    { kind: 'text', text: 'Remove `untracked` files.', line: 4, endLine: 5 },
    { kind: 'item', text: '-f, --force: Needed by default.', line: 7, endLine: 7 },
    { kind: 'item', text: 'Twice for folders.', line: 7, endLine: 7 },
    { kind: 'row', text: 'key: value', line: 8, endLine: 8 },
    { kind: 'code', text: 'git clean\n  -n', line: 9, endLine: 10 },
  ]);
});
