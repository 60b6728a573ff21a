import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../../src/model/media.ts';
import type { Post } from '../../../../src/model/post.ts';
import type { ListResult, PostResult } from '../../../../src/model/results.ts';
import { renderHtmlPage } from '../../../../src/render/page/page.ts';
import { createPageUrls } from '../../../../src/routes/pages/own-links.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { connectionsResult, profileResult, searchResult } from '../../../support/render-browse.ts';
import { hostileHtml, hostileUrl, parseHtml, parsePage } from '../../../support/render-html.ts';
import {
  account,
  article,
  furtherMembers,
  photo,
  result,
  status,
  tombstone,
} from '../../../support/render-posts.ts';

const baseUrl = 'https://perch.example';
const addresses = { baseUrl, xMirrors: [], mastodonSearchHost: 'mastodon.social' };
const context = {
  baseUrl,
  toOwnPage: createPageUrls(addresses),
  toPictureUrl: (url: string) =>
    url.length % 2 === 0 ? null : `${baseUrl}/media?url=${Buffer.from(url).toString('base64url')}`,
};

const people = fc.tuple(hostileHtml, hostileHtml, hostileUrl).map(([name, text, url]) =>
  account(name, text, {
    url,
    description: text,
    location: text,
    website: { url, display_url: text },
    avatar_url: url,
    banner_url: url,
    joined: text,
    id: text,
    verification: { verified: true, type: text },
  }),
);

const blocks = fc.tuple(hostileHtml, hostileUrl).map(([text, url]) => [
  ...(['paragraph', 'quote'] as const).map((type) => ({
    type,
    text,
    styles: [{ style: 'link' as const, start: 0, end: 3, url }],
  })),
  {
    type: 'heading' as const,
    level: 2,
    text,
    styles: [{ style: 'code' as const, start: 1, end: 2 }],
  },
  { type: 'list_item' as const, ordered: false, text, styles: [] },
  { type: 'code' as const, text },
  { type: 'markdown' as const, text: `# ${text}\n\`\`\`\n${text}` },
  { type: 'image' as const, url, alt: text, width: 1, height: null },
  { type: 'post' as const, url },
]);

const posts: fc.Arbitrary<Post> = fc
  .record({ author: people, text: hostileHtml, url: hostileUrl, blocks, lost: fc.boolean() })
  .map(({ author, text, url, blocks, lost }) => {
    if (lost) return tombstone({ text, author, url });
    return status(1, author, text, {
      url,
      created_at: text,
      source: text,
      lang: text,
      facets: [
        { type: 'bold', start: 0, end: 4 },
        { type: 'link', start: 1, end: 3, url },
        { type: 'italic', start: 2, end: 9 },
      ],
      media: toMediaSet([
        photo('a', { alt: text, url }),
        { ...photo('b', { alt: text, url }), type: 'video', thumbnail_url: url },
      ]),
      poll: {
        choices: [{ label: text, count: 1, percentage: Number.NaN }],
        total_votes: 1,
        ends_at: text,
      },
      article: article(text, { preview_text: text, cover_url: url, created_at: text, blocks }),
      quote: status(2, author, text, { url, created_at: text }),
      content_warning: text,
      ...furtherMembers(text, url),
      community_note: text,
      reposted_by: author,
      replying_to: { screen_name: text, status: null, url },
    });
  });

/** Elements allowed in a page, with their allowed attributes. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  html: ['lang'],
  head: [],
  meta: ['charset', 'name', 'property', 'content'],
  title: [],
  link: ['rel', 'type', 'title', 'href'],
  form: ['class', 'role', 'aria-label', 'action'],
  input: [
    ...['type', 'name', 'value', 'aria-label', 'placeholder', 'dir', 'required', 'maxlength'],
    ...['inputmode', 'autocomplete', 'autocapitalize', 'spellcheck'],
  ],
  button: ['type'],
  body: ['class'],
  header: ['class'],
  footer: ['class'],
  main: ['class'],
  nav: ['class', 'aria-label'],
  div: ['class'],
  article: ['class'],
  p: ['class', 'dir', 'lang'],
  blockquote: ['class', 'dir'],
  pre: ['dir'],
  ul: ['class'],
  ol: ['class'],
  li: ['dir'],
  a: ['href', 'rel', 'class', 'aria-label', 'aria-current'],
  img: ['class', 'src', 'alt', 'dir', 'width', 'height', 'loading', 'decoding', 'referrerpolicy'],
  svg: ['class', 'viewbox', 'viewBox', 'width', 'height', 'aria-hidden', 'preserveAspectRatio'],
  path: ['class', 'd'],
  circle: ['class', 'cx', 'cy', 'r'],
  rect: ['width', 'height'],
  time: ['datetime'],
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, ['dir']])),
  ...Object.fromEntries(
    ['bdi', 'br', 'strong', 'em', 'del', 'code', 'hr', 'kbd'].map((tag) => [tag, []]),
  ),
  span: ['class', 'aria-hidden'],
};

function findFaults(html: string): readonly string[] {
  const { elements, others, errors } = parsePage(html);
  const body = html.slice(html.indexOf('<main'), html.indexOf('</main>') + 7);
  const faults = elements.flatMap(({ tag, attributes: { src, href, ...attributes } }) => {
    const known = allowed[tag];
    if (known === undefined) return [`element ${tag}`];
    const strange = Object.keys(attributes).filter((name) => !known.includes(name));
    const isLinked = href === undefined || /^(?:https?:\/\/[^/]|mailto:)/.test(href);
    const isOwn = src === undefined || src.startsWith(`${baseUrl}/`);
    return [
      ...strange.map((name) => `attribute ${name} of ${tag}`),
      ...(isLinked && isOwn ? [] : [`address ${href} ${src}`]),
    ];
  });
  const nodes = others.filter((name) => name !== '#documentType' && name !== '#document-fragment');
  // `parseHtml` reports elements that the parser closes, moves or adds.
  return [...errors, ...nodes, ...faults, ...parseHtml(body).errors];
}

const render = (read: PostResult | ListResult) => renderHtmlPage(read, context);

describe('the page of hostile content', () => {
  it.each([
    ['posts', (posts: readonly Post[]) => ({ ...result([]), posts })],
    [
      'posts with replies and profiles',
      (list: readonly Post[]) => ({
        ...result([], { userDetail: 'all', full: true }),
        posts: list.map((post) => ({ ...post, context: 'reply' as const })),
      }),
    ],
    ['a search', (list: readonly Post[]) => searchResult('<b>', list, { degraded: true })],
    [
      'a profile',
      (list: readonly Post[]) => profileResult(list, { full: true }, list[0]?.author ?? undefined),
    ],
    [
      'accounts',
      (list: readonly Post[]) =>
        connectionsResult(
          'followers',
          list.flatMap(({ author }) => author ?? []),
          { full: true },
        ),
    ],
  ])('has no other elements, attributes and open tags: %s', (_, toResult) => {
    fc.assert(
      fc.property(
        fc.array(posts, { minLength: 1, maxLength: 2 }),
        hostileHtml,
        hostileUrl,
        (list, text, url) => {
          const read = { ...toResult(list), warnings: [text], source: text, fetchedAt: text };
          const page = read.kind === 'post' ? { ...read, url, embedUrl: url } : read;

          const html = render(page);

          expect(findFaults(html)).toEqual([]);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
