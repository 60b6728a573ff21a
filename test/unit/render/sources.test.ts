import { describe, expect, it } from 'vitest';
import type { HistoryQuery } from '../../../src/fetching/histories/history-result.ts';
import type { CopiedFrom } from '../../../src/model/account.ts';
import type { Status } from '../../../src/model/post.ts';
import type { EmbedReply, PostResult } from '../../../src/model/results.ts';
import { renderPostLines } from '../../../src/render/history.ts';
import { renderEmbedJson, renderPostJson } from '../../../src/render/json.ts';
import { renderBrowsePage } from '../../../src/render/markdown/browse-page.ts';
import { renderPostPage } from '../../../src/render/markdown/post-page.ts';
import { renderPostNote } from '../../../src/render/obsidian.ts';
import { renderPreviewPage } from '../../../src/render/preview-page.ts';
import { connectionsResult, searchResult } from '../../support/render-browse.ts';
import { parseHtml, parsePage } from '../../support/render-html.ts';
import { account, ada, answerTo, bo, facet, result, status } from '../../support/render-posts.ts';

const host = 'evil.example.org';
const source: CopiedFrom = { host, url: `https://${host}/@ada/1` };
const copiedAda = { ...ada, copied_from: { host, url: `https://${host}/@ada` } };
const copy = status(1, copiedAda, 'Fog at the point.', { copied_from: source });
const linked = `copied from [${host}](${source.url})`;

function embed(post: Status): EmbedReply {
  const sizes = { maxWidth: null, maxHeight: null, cacheSeconds: 3600 };
  const baseUrl = 'https://perch.example';
  return JSON.parse(renderEmbedJson({ kind: 'embed', post, baseUrl, ...sizes }));
}

/** Names of the maximum length, so that a cut title would cut them. */
const long = { ...copy, author: { ...copiedAda, name: 'Ada '.repeat(120) } };

describe('a copy of a post', () => {
  it('is labelled on the page of a single post', () => {
    const page = renderPostPage(result([copy]));

    expect(page).toMatch(/^# Copy from evil\.example\\\.org: Ada Keeper/);
    expect(page).toContain(`2026-03-04 09:13 UTC](${copy.url}) · ${linked}`);
  });

  it('is labelled in a conversation', () => {
    const answer = status(2, bo, 'How thick?', { context: 'reply', ...answerTo(copy) });
    const asked = { ...copy, context: 'post' } as const;
    const page = renderPostPage(result([asked, answer]));

    expect(page).toMatch(/^# Copy from evil\.example\\\.org: Post by Ada Keeper/);
    expect(page.match(/^## .*Ada Keeper.*/m)?.[0]).toContain(linked);
    expect(page.match(/^### .*Bo .*/m)?.[0]).not.toContain('copied');
  });

  it('is labelled in a quote, a repost and a list', () => {
    const quoting = status(2, bo, 'Look', { quote: copy });
    const reposted = status(3, bo, 'Look', { reposted_by: copiedAda });

    expect(renderPostPage(result([quoting]))).toContain(
      `> **Ada Keeper** ([@ada.example](${ada.url})) · [2026-03-04 09:13 UTC](${copy.url}) · ${linked}`,
    );
    expect(renderPostPage(result([reposted]))).toContain(
      `· copied from [${host}](https://${host}/@ada)*`,
    );
    expect(renderBrowsePage(searchResult('fog', [copy]))).toContain(linked);
  });

  it('is labelled as a line and in JSON', () => {
    const body: { posts: readonly Status[] } = JSON.parse(renderPostJson(result([copy])));

    expect(body.posts[0]).toMatchObject({ copied_from: source });
    const query = { isIndex: false } as HistoryQuery; // nothing else of it is read here
    const about = {
      ...{ handle: 'ada', account: null, query, source: 'mastodon', fetchedAtMs: 0 },
      toUrl: () => '',
    };
    const lines = renderPostLines(about, [{ post: copy, second: 1, stored: null }]);
    expect(JSON.parse(lines)).toMatchObject({ post: { copied_from: source } });
  });

  it('is labelled in the properties of a note', () => {
    const note = renderPostNote(result([copy]));

    expect(note).toMatch(/^title: "Copy from evil\.example\.org: Ada Keeper.*$/m);
    expect(note).toMatch(/^copied_from: evil\.example\.org$/m);
  });

  it.each([
    ['a usual name', copy],
    ['a long one', long],
  ])('is labelled in the oEmbed document, without a link to the author: %s', (_, post) => {
    const document = embed(post);

    expect(document.title).toMatch(/^Copy from evil\.example\.org: Ada/);
    expect(document.author_name).toMatch(/^Copy from evil\.example\.org: Ada/);
    expect(document).not.toHaveProperty('author_url');
    expect(parseHtml(document.html).text).toContain(` · copied from ${host}`);
  });

  it.each([
    ['a usual name', copy],
    ['a long one', long],
  ])('is labelled on a preview page, whose URL is that of the copy: %s', (_, post) => {
    const page: PostResult = result([post], { url: source.url });
    const { elements, text } = parsePage(renderPreviewPage(page));
    const contentOf = (name: string) =>
      elements.find(({ attributes: { property, name: plain } }) => [property, plain].includes(name))
        ?.attributes.content;

    for (const name of ['og:title', 'twitter:title', 'author']) {
      expect(contentOf(name)).toMatch(/^Copy from evil\.example\.org: Ada/);
    }
    expect(elements.find(({ tag }) => tag === 'title')?.text).toMatch(/^Copy from/);
    expect([contentOf('og:url'), contentOf('article:author')]).toEqual([source.url, undefined]);
    expect(text).toContain(` · copied from ${host}`);
  });

  it('is labelled in lists of accounts and sections about them', () => {
    const list = renderBrowsePage(connectionsResult('followers', [copiedAda, bo]));
    const about = renderPostPage(result([copy], { userDetail: 'all' }));

    expect(list).toContain(`· copied from [${host}](https://${host}/@ada)`);
    expect(list.match(/copied from/g)).toHaveLength(1);
    expect(about).toContain(`- Copied from: [${host}](https://${host}/@ada)`);
  });
});

describe('a fact that only some sources provide', () => {
  const told: Partial<Status> = {
    edited_at: '2026-03-05T10:00:00Z',
    tags: ['fog', 'sea_mist'],
    reactions: [
      { name: 'blobcat', count: 1200 },
      { name: '👍', count: 2 },
    ],
    community: {
      id: '7',
      name: 'Keepers',
      url: 'https://x.com/i/communities/7',
      description: null,
    },
    card: {
      url: 'https://light.example/plan',
      title: 'Plan',
      description: 'Where it stands',
      image_url: null,
      provider_name: 'Light House',
      author_name: 'Bo',
      author_url: 'https://light.example/bo',
    },
    poll: {
      choices: [{ label: 'Yes', count: 3, percentage: 100 }],
      total_votes: 3,
      total_voters: 2,
      ends_at: null,
    },
  };
  const post = status(1, ada, 'Fog at the point.', told);

  it('appears on the page of the post', () => {
    const page = renderPostPage(result([post]));

    expect(page).toContain('*In [Keepers](https://x.com/i/communities/7)*');
    expect(page).toContain('Tags: #fog #sea_mist');
    expect(page).toContain('> Light House · by [Bo](https://light.example/bo)');
    expect(page).toContain('3 votes · 2 voters');
    expect(page).toContain(') · edited 2026-03-05 10:00 UTC');
    expect(page).not.toContain('blobcat');
    expect(renderPostPage(result([post], { full: true }))).toContain(
      'reactions: blobcat 1,200, 👍 2',
    );
  });

  it('appears in the embedded post', () => {
    const { text } = parseHtml(embed(post).html);

    expect(text).toContain('In Keepers');
    expect(text).toContain('Tags: #fog #sea_mist');
    expect(text).toContain('Light House · by Bo');
    expect(text).toContain('3 votes · 2 voters');
    expect(text).toContain('edited 2026-03-05 10:00 UTC');
  });

  it('appears in the properties of a note', () => {
    const note = renderPostNote(result([post]));

    expect(note).toMatch(/^edited: "2026-03-05T10:00:00Z"$/m);
    expect(note).toContain('tags:\n  - fog\n  - sea_mist\n');
  });

  it('is the target of a link in a description', () => {
    const description = 'I keep the light';
    const link = facet(description, 'the light', 'link', 'https://light.example/');
    const keeper = account('Ada', 'ada.example', { description, description_facets: [link] });
    const page = renderPostPage(result([status(1, keeper, 'Fog.')], { userDetail: 'author' }));

    expect(page).toContain('I keep [the light](https://light.example/)');
  });
});
