import MarkdownIt from 'markdown-it';
import { marked } from 'marked';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import {
  renderArchiveIndex,
  renderRepost,
  renderRepostsHead,
} from '../../../src/cli/archive/export-notes.ts';
import { parseUrl } from '../../../src/lib/http/url.ts';
import type { Account } from '../../../src/model/account.ts';
import { toMediaSet } from '../../../src/model/media.ts';
import type { Status } from '../../../src/model/post.ts';
import type { ListResult, PostResult } from '../../../src/model/results.ts';
import { renderBrowsePage } from '../../../src/render/markdown/browse-page.ts';
import { renderPostPage } from '../../../src/render/markdown/post-page.ts';
import { renderText } from '../../../src/render/markdown/text.ts';
import { cleanMarkdown, nestHeadings } from '../../../src/render/markdown/verbatim.ts';
import { renderPostNote } from '../../../src/render/obsidian.ts';
import { fc } from '../../support/fast-check.ts';
import {
  connectionsResult,
  profileResult,
  searchFor,
  searchResult,
  userSearchResult,
} from '../../support/render-browse.ts';
import { hostileText, runs } from '../../support/render-markdown.ts';
import { account, article, photo, result, status, tombstone } from '../../support/render-posts.ts';

/** Element of rendered Markdown with its attributes. */
interface RenderedElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const commonMark = createParser(false);
const linkifying = createParser(true);

function createParser(linkify: boolean) {
  const parser = new MarkdownIt({ html: true, linkify });
  parser.validateLink = () => true;
  // Internationalized host names are not changed, as in the other renderers.
  parser.normalizeLink = parser.utils.lib.mdurl.encode;
  return parser;
}

/** Renders CommonMark with tables, and allows HTML and all kinds of links. */
function renderPlainly(markdown: string): string {
  return commonMark.render(markdown);
}

/** Renderers that link bare URLs, and allow HTML and all kinds of links. */
const laxRenderers: Readonly<Record<string, (markdown: string) => string>> = {
  'markdown-it with linkify': (markdown) => linkifying.render(markdown),
  'micromark with GFM': (markdown) =>
    micromark(markdown, {
      allowDangerousHtml: true,
      allowDangerousProtocol: true,
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
    }),
  marked: (markdown) => marked.parse(markdown, { async: false, gfm: true }),
  'marked with line breaks': (markdown) => marked.parse(markdown, { async: false, breaks: true }),
};

/** Harmless elements that parsers place differently within a word. */
const emphasis: ReadonlySet<string> = new Set(['em', 'strong', 'br']);

/** Returns the elements of HTML except emphasis, with renderer differences normalized. */
function elementsOf(html: string): readonly RenderedElement[] {
  return elementsWithin(parseFragment(html)).filter(({ name }) => !emphasis.has(name));
}

type Node = DefaultTreeAdapterTypes.ParentNode;

function elementsWithin(node: Node): readonly RenderedElement[] {
  return node.childNodes.flatMap((child) =>
    'tagName' in child ? [toElement(child), ...elementsWithin(child)] : [],
  );
}

function toElement({ tagName, attrs }: DefaultTreeAdapterTypes.Element): RenderedElement {
  const name = tagName === 's' ? 'del' : tagName;
  // Renderers align cells with `align` or with `style`.
  const own = attrs.filter(() => name !== 'td' && name !== 'th');
  return { name, attributes: Object.fromEntries(own.map((one) => [one.name, toValue(one)])) };
}

/** Normalizes an attribute value. Renderers differ in the percent-encoding of URLs and in Markdown in descriptions. */
function toValue({ name, value }: { readonly name: string; readonly value: string }): string {
  if (name === 'alt') return '';
  if (name !== 'href' && name !== 'src') return value;
  const encoded = value.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  return parseUrl(encoded)?.href ?? encoded;
}

/** Returns each hostile text in turn. */
type Next = () => string;

function hostileAccount(next: Next): Account {
  return account(next(), next(), {
    url: `https://a.example/${next()}`,
    description: next(),
    location: next(),
    website: { url: next(), display_url: next() },
    id: next(),
    joined: next(),
    avatar_url: next(),
    verification: { verified: true, type: next() },
  });
}

function hostileStatus(next: Next): Status {
  const styles = [
    { style: 'bold', start: 0, end: 3 },
    { style: 'link', start: 4, end: 6, url: `https://a.example/${next()}` },
  ] as const;
  return status(1, hostileAccount(next), next(), {
    facets: [
      { type: 'link', start: 0, end: 5, url: `https://a.example/${next()}` },
      { type: 'italic', start: 6, end: 12 },
      { type: 'code', start: 13, end: 18 },
    ],
    created_at: next(),
    source: next(),
    lang: next(),
    media: toMediaSet([photo('a', { alt: next() }), photo('b', { url: next(), alt: next() })]),
    poll: {
      choices: [{ label: next(), count: 1, percentage: 5 }],
      total_votes: 1,
      ends_at: next(),
    },
    article: article(next(), {
      blocks: [
        { type: 'heading', level: 1, text: next(), styles },
        { type: 'list_item', ordered: true, text: next(), styles },
        { type: 'quote', text: next(), styles },
        { type: 'code', text: next() },
        { type: 'image', url: next(), alt: next(), width: null, height: null },
        { type: 'post', url: `https://a.example/${next()}` },
      ],
    }),
    content_warning: next(),
    card: { url: next(), title: next(), description: next(), image_url: null },
    community_note: next(),
    replying_to: { screen_name: next(), status: null, url: next() },
    reposted_by: hostileAccount(next),
    quote: tombstone({ text: next(), author: hostileAccount(next), url: next() }),
    context: 'post',
  });
}

const texts = fc.array(hostileText, { minLength: 12, maxLength: 12 });

/** Returns each text in turn. */
function takeTurns(given: readonly string[]): Next {
  let at = 0;
  return () => {
    at += 1;
    return given[at % given.length] ?? '';
  };
}

function postPage(next: Next, count: number): PostResult {
  const posts = Array.from({ length: count }, () => hostileStatus(next));
  const told = { full: true, userDetail: 'all', warnings: [next(), next()] } as const;
  return result(posts, { ...told, source: next(), url: `https://a.example/${next()}` });
}

function browsePages(next: Next): readonly ListResult[] {
  const told = { full: true, degraded: true, warnings: [next()], source: next() };
  const posts = [hostileStatus(next)];
  const users = [hostileAccount(next), hostileAccount(next)];
  const subject = { resource: 'followers', handle: next(), url: next() } as const;
  return [
    profileResult(posts, told, hostileAccount(next)),
    searchResult('', posts, { ...told, subject: searchFor(next()) }),
    userSearchResult(next(), users, told),
    connectionsResult('followers', users, { ...told, subject }),
  ];
}

/** Removes front matter, as renderers do that support it. */
function withoutFrontMatter(note: string): string {
  return note.slice(note.indexOf('\n---\n') + 5);
}

function archivePages(next: Next): readonly string[] {
  const owner = hostileAccount(next);
  const repost = { platform: 'mastodon', created: 1, postHandle: next(), postId: '1' } as const;
  return [
    withoutFrontMatter(renderArchiveIndex(owner, [])),
    withoutFrontMatter(renderRepostsHead(owner, '2024-03')),
    renderRepost({ ...repost, post: hostileStatus(next) }),
    renderRepost({ ...repost, post: null }),
  ];
}

describe.each(Object.entries(laxRenderers))('%s', (_name, render) => {
  const expectNothingMore = (markdown: string) => {
    const written = elementsOf(renderPlainly(markdown)).map((one) => JSON.stringify(one));
    const shown = elementsOf(render(markdown)).map((one) => JSON.stringify(one));

    expect(withoutEach(shown, written), markdown).toEqual([]);
  };

  it('shows no element, attribute or link in a text that CommonMark does not', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expectNothingMore(renderText(text, []));
      }),
      runs,
    );
  });

  it('shows none in a page of posts or a note', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 2 }), (given, count) => {
        const page = postPage(takeTurns(given), count);

        expectNothingMore(renderPostPage(page));
        expectNothingMore(withoutFrontMatter(renderPostNote(page)));
      }),
      fewRuns,
    );
  });

  it('shows none in a profile, a list or a search', () => {
    fc.assert(
      fc.property(texts, (given) => {
        for (const page of browsePages(takeTurns(given))) expectNothingMore(renderBrowsePage(page));
      }),
      fewRuns,
    );
  });

  it('shows none in the notes of an archive', () => {
    fc.assert(
      fc.property(texts, (given) => {
        for (const page of archivePages(takeTurns(given))) expectNothingMore(page);
      }),
      fewRuns,
    );
  });

  it('shows handles of Mastodon unchanged, and never as e-mail addresses', () => {
    for (const markdown of mastodonPages()) {
      const html = render(markdown);

      expect(html, markdown).not.toContain('mailto:');
      expect(html.replaceAll(/<[^>]*>/g, ''), markdown).toContain('@ada@reef.example.org');
    }
  });

  it('shows no HTML and only web and mail links in Markdown of platforms', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (one, other) => {
        const elements = elementsOf(render(cleanMarkdown(`${one}\`${other}`, nestHeadings(1))));

        for (const { name, attributes } of elements) {
          expect(markdownElements).toContain(name);
          expect(Object.keys(attributes).filter((key) => !markdownAttributes.test(key))).toEqual(
            [],
          );
          for (const url of [attributes.href, attributes.src])
            expect(url ?? '//').toMatch(/^(?:(?:https?:)?\/\/|mailto:|#)/i);
        }
      }),
      runs,
    );
  });
});

describe('a handle of Mastodon', () => {
  it('is a link in headings, where GitHub would take it for an e-mail address even if escaped', () => {
    const headings = mastodonPages().flatMap((page) => page.match(/^#.*@ada.*$/gm) ?? []);

    expect(headings.length).toBeGreaterThan(6);
    for (const heading of headings) {
      const unlinked = heading.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '');
      if (!unlinked.startsWith('# Search: ')) expect(unlinked).not.toMatch(/@[^ ]+@/);
    }
  });
});

function mastodonPages(): readonly string[] {
  const handle = 'ada@reef.example.org';
  const url = 'https://reef.example.org/@ada';
  const ada = account('Ada', handle, { url, description: `Also @${handle}` });
  const post = status(1, ada, `Says @${handle}, or cc @${handle}!`, {
    replying_to: { screen_name: handle, status: null, url },
    reposted_by: ada,
    quote: status(2, ada, `Of @${handle}`),
    community_note: `By @${handle}`,
  });
  const read = {
    full: true,
    userDetail: 'all',
    warnings: [`Not all of @${handle} is here.`],
  } as const;
  const subject = { resource: 'followers', handle, url } as const;
  return [
    renderPostPage(result([post], read)),
    renderPostPage(result([post, { ...post, id: '3', context: 'reply' }], read)),
    renderBrowsePage(profileResult([post], {}, ada)),
    renderBrowsePage(connectionsResult('followers', [ada], { subject })),
    renderBrowsePage(searchResult(`@${handle}`, [post])),
    withoutFrontMatter(renderRepostsHead(ada, '2024-03')),
  ];
}

const fewRuns = { numRuns: Math.ceil(runs.numRuns / 10) };

/** Removes each of the other texts once. */
function withoutEach(all: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const markdownElements = [
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'del', 'code', 'pre', 'a', 'img'],
  ...['ul', 'ol', 'li', 'blockquote', 'hr', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ...['input', 'sup', 'section'],
];

const markdownAttributes =
  /^(?:href|src|alt|title|start|class|type|checked|disabled|id|data-footnote-\w+|aria-\w+)$/;
