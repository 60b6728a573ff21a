import { describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import { accountRow, snowflake, statusRow } from '../support/mastodon-payloads.ts';
import { parsePage } from '../support/render-html.ts';
import { createStubProvider, stubAccount, stubFound, stubPost } from '../support/stub-provider.ts';

const rel = 'nofollow noopener noreferrer';

async function readResult(app: TestApp, q: string) {
  const reply = await app.request(`/?q=${encodeURIComponent(q)}`, {
    headers: { accept: 'text/html' },
  });
  const [, rendered = ''] =
    /<section class="rendered"[^>]*>([\s\S]*?)<\/section>/.exec(reply.body) ?? [];
  return { page: parsePage(reply.body), elements: parsePage(rendered).elements };
}

const toLinks = (elements: Awaited<ReturnType<typeof readResult>>['elements']) =>
  elements
    .filter(({ tag }) => tag === 'a')
    .map(({ attributes: { href, rel: relation }, text }) => [text, href, relation]);

const pageOf = (url: string) => `/?q=${encodeURIComponent(url)}#result`;

describe('a result of the front page', () => {
  const article = {
    id: null,
    title: 'عنوان',
    cover_url: null,
    created_at: null,
    modified_at: null,
    preview_text: null,
    blocks: [{ type: 'markdown' as const, text: '# فصل\n\nنص\n\n- بند\n\n> اقتباس\n\n## نهاية' }],
  };
  const openArabic = (more: Parameters<typeof stubPost>[1]) => {
    const author = { ...stubAccount('wren'), name: 'ليلى' };
    const provider = createStubProvider('fxtwitter', async ({ post }) =>
      stubFound(stubPost(post.id, { author, text: 'مرحبا بالعالم', ...more })),
    );
    return buildTestApp({ providers: [provider] });
  };

  it('sets the direction of each text, including the input and the source', async () => {
    const app = await openArabic({ article });

    const { page, elements } = await readResult(app, 'https://x.com/wren/status/20');

    const blocks = elements.filter(({ tag }) => /^(?:h\d|p|li|blockquote|t[hd])$/.test(tag));
    expect(blocks.map(({ text }) => text).join()).toMatch(
      /عنوان[\s\S]*ليلى[\s\S]*مرحبا[\s\S]*فصل[\s\S]*بند/,
    );
    expect(blocks.filter(({ attributes }) => attributes.dir !== 'auto')).toEqual([]);
    const own = ['q', 'result-source'].map(
      (id) => page.elements.find(({ attributes }) => attributes.id === id)?.attributes.dir,
    );
    expect(own).toEqual(['auto', 'auto']);
  });

  it('nests the headings of an article below its title and those of the page', async () => {
    const app = await openArabic({ article });

    const { elements } = await readResult(app, 'https://x.com/wren/status/20');

    const [title, ...others] = elements.filter(({ tag }) => /^h\d$/.test(tag));
    expect(title?.tag).toBe('h3');
    expect(others.length).toBeGreaterThan(1);
    expect(others.filter(({ tag }) => !/^h[4-6]$/.test(tag))).toEqual([]);
  });

  it('links posts and accounts of X to the front page, and once each to the original', async () => {
    const app = await openArabic({
      text: 'See @robin @robin',
      facets: [4, 11].map((start) => ({
        type: 'mention' as const,
        start,
        end: start + 6,
        url: 'https://x.com/robin',
      })),
    });
    const url = 'https://x.com/wren/status/20';

    const { elements } = await readResult(app, url);

    const links = toLinks(elements);
    const robin = 'https://x.com/robin';
    expect(links.filter(([text]) => text === '@robin')).toEqual([
      ['@robin', pageOf(robin), undefined],
      ['@robin', pageOf(robin), undefined],
    ]);
    expect(links.filter(([, href]) => href === robin)).toEqual([['↗\ufe0e', robin, rel]]);
    expect(links.filter(([, href]) => href === url)).toEqual([['↗\ufe0e', url, rel]]);
    expect(links.some(([, href]) => href === pageOf(url))).toBe(true);
  });
});

describe('a result of a Mastodon server', () => {
  const host = 'kelp.example.org';
  const id = snowflake(Date.UTC(2026, 0, 1));
  const kelp = accountRow('kelp', { url: `https://${host}/@kelp` });
  const ada = accountRow('ada@famous.example.com');
  const content = `<p><a href="https://shop.example.com/@ada/1">shop</a></p>`;
  const openServer = async () => {
    const server = createFakeMastodon(host);
    for (const account of [kelp, ada]) server.addAccount(account);
    const uri = `https://${host}/users/kelp/statuses/${id}`;
    server.addStatus(statusRow(id, kelp, { content, uri, url: `https://${host}/@kelp/${id}` }));
    const copied = snowflake(Date.UTC(2026, 0, 2));
    server.addStatus(statusRow(copied, ada, { content }));
    const { app } = await buildMastodonApp({ [host]: server.handler });
    return { app, copy: `https://${host}/@ada@famous.example.com/${copied}` };
  };

  it('links only URLs of that server to the front page', async () => {
    const { app } = await openServer();
    const url = `https://${host}/@kelp/${id}`;

    const { elements } = await readResult(app, url);

    const links = toLinks(elements);
    const targets = links.map(([, href]) => href);
    expect(targets).toEqual(
      expect.arrayContaining([pageOf(url), url, pageOf(`https://${host}/@kelp`)]),
    );
    expect(links).toContainEqual(['shop', 'https://shop.example.com/@ada/1', rel]);
  });

  it('does not trust a server with a copy for links to the original’s server', async () => {
    const { app, copy } = await openServer();

    const { elements } = await readResult(app, copy);

    const targets = toLinks(elements).map(([, href]) => href);
    expect(targets).toContain('https://famous.example.com/@ada');
    expect(targets).not.toContain(pageOf('https://famous.example.com/@ada'));
  });
});
