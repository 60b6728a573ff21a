import { expect, it } from 'vitest';
import { encodeComponent } from '../../../../../src/lib/http/url.ts';
import {
  createAnswerRenderer,
  foreignLinks,
} from '../../../../../src/routes/pages/ask/ask-plugin.ts';
import { fc } from '../../../../support/fast-check.ts';
import { hostileHtml, hostileUrl, parseHtml } from '../../../../support/render-html.ts';

const tags = [
  ...['p', 'br', 'ul', 'ol', 'li', 'strong', 'em', 's', 'code', 'pre', 'div', 'blockquote', 'hr'],
  ...['h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span', 'a'],
];

const render = await createAnswerRenderer({
  ...foreignLinks,
  ofCitation: (citation) => `/docs/cited?${encodeComponent(citation)}`,
});

function findUnsafe(html: string): readonly unknown[] {
  return parseHtml(html).elements.filter(
    ({ tag, attributes }) =>
      !tags.includes(tag) ||
      Object.keys(attributes).some((name) => !['href', 'rel', 'class', 'start'].includes(name)) ||
      !/^(?:https?:\/\/|\/docs\/cited\?|$)/i.test(attributes.href ?? ''),
  );
}

it('escapes HTML in text', () => {
  fc.assert(
    fc.property(hostileHtml, (text) => {
      expect(findUnsafe(render(text))).toEqual([]);
    }),
  );
});

it('links only to the web and to citations', () => {
  fc.assert(
    fc.property(hostileUrl, hostileHtml, (url, text) => {
      const markdown = `[${text}](<${url}>) ![${text}](${url}) <${url}> \`${url}\`\n\n[a]: ${url}\n\n[a]`;

      expect(findUnsafe(render(markdown))).toEqual([]);
    }),
  );
});

it('does not nest links', () => {
  const html = render('[see `docs/keys.md:3` and docs/keys.md#a:4](https://example.org/)');

  expect(html).toBe(
    '<p><a href="https://example.org/" rel="nofollow noopener noreferrer">see <code>docs/keys.md:3</code> and docs/keys.md#a:4</a></p>\n',
  );
});

it('starts headings below that of the question, without skipping levels', () => {
  expect(render('# A\n\n### B\n')).toBe('<h3>A</h3>\n<h4>B</h4>\n');
});
