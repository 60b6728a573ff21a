import { describe, expect, it } from 'vitest';
import { toWebsite } from '../../../src/model/account.ts';
import { toMediaSet } from '../../../src/model/media.ts';
import { writeWords } from '../../../src/render/markdown/blocks.ts';
import { escapeCell, escapeInline } from '../../../src/render/markdown/escape.ts';
import { quoteBlock } from '../../../src/render/markdown/layout.ts';
import { image } from '../../../src/render/markdown/links.ts';
import { renderPostPage } from '../../../src/render/markdown/post-page.ts';
import { renderText } from '../../../src/render/markdown/text.ts';
import { cleanMarkdown, nestHeadings } from '../../../src/render/markdown/verbatim.ts';
import { fc } from '../../support/fast-check.ts';
import {
  expectedText,
  hostileLine,
  hostileText,
  parseMarkdown,
  runs,
  textsWithin,
  tokenTypes,
  visibleText,
} from '../../support/render-markdown.ts';
import { account, article, photo, result, status, tombstone } from '../../support/render-posts.ts';

describe('an escaped line', () => {
  it('keeps its text in a heading', () => {
    fc.assert(
      fc.property(hostileLine, (name) => {
        const markdown = `# ${escapeInline(name)} (@a.example)`;

        expect(textsWithin(markdown, 'heading')).toEqual([`${name} (@a.example)`]);
        expect(tokenTypes(markdown)).toEqual(['heading_close', 'heading_open', 'text']);
      }),
      runs,
    );
  });

  it('keeps its text in bold, next to a link', () => {
    fc.assert(
      fc.property(hostileLine, (name) => {
        const markdown = writeWords({
          type: 'account',
          account: account(name, 'a_b_.example'),
          isBold: true,
        });

        expect(textsWithin(markdown, 'strong')).toEqual([name]);
        expect(textsWithin(markdown, 'link')).toEqual(['@a_b_.example']);
      }),
      runs,
    );
  });

  it('keeps its text as the description of a picture', () => {
    fc.assert(
      fc.property(hostileLine, (alt) => {
        const [, token] = parseMarkdown(image(alt, 'https://a.example/(1).jpg'));

        expect(token?.type).toBe('image');
        expect(token?.content).toBeDefined();
        expect(altOf(token)).toBe(alt);
      }),
      runs,
    );
  });

  it('keeps its text in a table cell', () => {
    fc.assert(
      fc.property(hostileLine, hostileLine, (one, other) => {
        const markdown = `| A | B |\n| --- | --- |\n| ${escapeCell(one)} | ${escapeCell(other)} |`;

        expect(textsWithin(markdown, 'td')).toEqual([one, other]);
        expect(tokenTypes(markdown).join()).not.toMatch(/html|strong|em_|link|code/);
      }),
      runs,
    );
  });
});

it('a quoted text keeps its text within the quote', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const rendered = renderText(text, []);
      fc.pre(rendered !== '');
      const markdown = quoteBlock(rendered);

      expect(visibleText(markdown)).toBe(expectedText(text));
      expect(parseMarkdown(markdown).at(-1)?.type).toBe('blockquote_close');
    }),
    runs,
  );
});

describe('Markdown of platforms', () => {
  it('adds no HTML, unsafe links or open fence to the page', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (one, other) => {
        const markdown = `${cleanMarkdown(`${one}\`${other}`, nestHeadings(1))}\n\n# End`;
        const tokens = parseMarkdown(markdown);

        expect(tokens.filter(({ type }) => type.startsWith('html'))).toEqual([]);
        for (const token of tokens.filter(({ type }) => type === 'link_open'))
          expect(token.attrGet('href')).toMatch(/^(?:https?:\/\/|mailto:)/i);
        expect(tokens.at(-1)?.type).toBe('heading_close');
      }),
      runs,
    );
  });

  it.each([
    ['Use `Array<string>` and <b>bold</b>', 'Use `Array<string>` and &lt;b>bold&lt;/b>'],
    ['```html\n<b>\n\n\n</b>\n```', '```html\n<b>\n\n\n</b>\n```'],
    ['~~~\n<b>', '~~~\n<b>\n~~~'],
    [
      '[a](https://a.example) `<b>` <https://a.example>',
      '[a](https://a.example) `<b>` <https://a.example>',
    ],
    ['[a](javascript:x)', '[a]\\(javascript:x)'],
    ['\\<b> and \\\\<b>', '&lt;b> and \\\\&lt;b>'],
    ['- ```\n<b>', '- ```\n&lt;b>'],
    ['a ` b\n`<b>`', 'a ` b\n`&lt;b>`'],
    ['www.a.b/`<img src=x>`', 'www.a.b/`&lt;img src=x>`'],
    ['www.a.b/\\<img src=x>', 'www.a.b/&lt;img src=x>'],
    ['ftp://a.b and xmpp:a@b.c', 'ftp:\\//a.b and xmpp\\:a@b.c'],
    ['a  \nb   \n\n\n\nc ', 'a  \nb\n\nc'],
  ])('writes %j safely', (markdown, expected) => {
    expect(cleanMarkdown(markdown, nestHeadings(1))).toBe(expected);
  });
});

it('a page has no HTML and keeps its end with hostile parts', () => {
  fc.assert(
    fc.property(fc.array(hostileText, { minLength: 12, maxLength: 12 }), (texts) => {
      const markdown = renderPostPage(hostilePage(texts));

      expect(tokenTypes(markdown).filter((type) => type.startsWith('html'))).toEqual([]);
      expect(markdown).toMatch(/\n\*\*Notes\*\*\n\n- The end\.\n$/);
      expect(
        parseMarkdown(markdown)
          .slice(-6)
          .map(({ type }) => type),
      ).toEqual([
        'list_item_open',
        'paragraph_open',
        'text',
        'paragraph_close',
        'list_item_close',
        'bullet_list_close',
      ]);
    }),
    runs,
  );
});

function hostilePage(texts: readonly string[]) {
  const [name = '', text = '', alt = '', label = '', title = '', block = ''] = texts;
  const [code = '', note = '', lost = '', bio = '', source = '', handle = ''] = texts.slice(6);
  const author = account(name, handle, {
    description: bio,
    location: bio,
    website: toWebsite(bio),
  });
  const hostile = status(1, author, text, {
    facets: [{ type: 'link', start: 0, end: 3, url: `https://a.example/${alt}` }],
    source,
    media: toMediaSet([photo(alt, { alt }), photo(alt)]),
    poll: { choices: [{ label, count: 1, percentage: 1 }], total_votes: 1, ends_at: label },
    article: article(title, {
      blocks: [
        { type: 'markdown', text: block },
        { type: 'code', text: code },
        { type: 'list_item', ordered: true, text: title, styles: [] },
        { type: 'heading', level: 1, text: block, styles: [] },
      ],
    }),
    community_note: note,
    quote: tombstone({ text: lost }),
    context: 'post',
  });
  const reply = status(2, author, text, { context: 'reply' });
  const shown = { full: true, userDetail: 'all', warnings: ['The end.'] } as const;
  return result([hostile, { ...reply, quote: hostile }], shown);
}

function altOf(token: ReturnType<typeof parseMarkdown>[number] | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}
