import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { brandMark, html } from '../../../../src/render/html/markup.ts';
import { type Page, renderPage } from '../../../../src/routes/pages/layout.ts';
import { parsePage } from '../../../support/render-html.ts';

const page: Page = {
  title: 'Keys',
  description: 'What a key is for.',
  path: '/docs/keys',
  body: html`<h1>Keys</h1>`,
};
const assets = { pathOf: (name: string) => `/docs/assets/${name}`, find: () => undefined };
const render = (more: Partial<Page> = {}, baseUrl = 'https://perch.test/read') =>
  parsePage(renderPage({ ...page, ...more }, { baseUrl, assets })).elements;
const named = (elements: ReturnType<typeof render>, name: string) =>
  elements.filter(({ tag }) => tag === name);

describe('a page', () => {
  it('has one title, one main element and the canonical URL', () => {
    const elements = render();

    expect(named(elements, 'title').map(({ text }) => text)).toEqual(['Keys · Perch']);
    expect(named(elements, 'main')).toHaveLength(1);
    expect(
      named(elements, 'link').find(({ attributes }) => attributes.rel === 'canonical')?.attributes,
    ).toEqual({ rel: 'canonical', href: 'https://perch.test/read/docs/keys' });
  });

  it('escapes every text', () => {
    const hostile = '</title><script>alert("1")</script>';
    const elements = render({ title: hostile, description: hostile });

    expect(named(elements, 'title').map(({ text }) => text)).toEqual([`${hostile} · Perch`]);
    expect(named(elements, 'script').every(({ attributes }) => attributes.src !== undefined)).toBe(
      true,
    );
  });

  it('marks the link of its section', () => {
    const current = (more: Partial<Page>) =>
      render(more).flatMap(({ attributes }) =>
        attributes['aria-current'] === undefined
          ? []
          : [[attributes.href, attributes['aria-current']]],
      );

    expect(current({})).toEqual([]);
    expect(current({ section: 'docs' })).toEqual([['/read/docs', 'true']]);
    expect(current({ section: 'docs', path: '/docs' })).toEqual([['/read/docs', 'page']]);
  });

  it('loads the theme before the styles, and other scripts later', () => {
    const loaded = render({ scripts: ['front.js'], styles: ['front.css'] }).flatMap(
      ({ attributes: { src, href, rel, defer } }) =>
        src !== undefined ? [[src, defer]] : rel === 'stylesheet' ? [[href, undefined]] : [],
    );

    expect(loaded).toEqual([
      ['/read/docs/assets/theme.js', undefined],
      ['/read/docs/assets/theme.css', undefined],
      ['/read/docs/assets/site.css', undefined],
      ['/read/docs/assets/text.css', undefined],
      ['/read/docs/assets/find.css', undefined],
      ['/read/docs/assets/front.css', undefined],
      ['/read/docs/assets/site.js', ''],
      ['/read/docs/assets/find.js', ''],
      ['/read/docs/assets/front.js', ''],
    ]);
  });

  it('has the same logo as the favicon', () => {
    const drawn = (svg: string) =>
      [...svg.matchAll(/ d="([^"]+)"/g)].flatMap(([, path]) => path?.split(/(?=M)/) ?? []).sort();

    expect(drawn(String(brandMark))).toEqual(drawn(readFileSync('assets/favicon.svg', 'utf8')));
  });
});
