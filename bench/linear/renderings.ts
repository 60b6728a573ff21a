import { maxRenderedBytes } from '../../src/http/pages/front-found.ts';
import { createResultRenderer } from '../../src/http/pages/result-html.ts';
import type { Account } from '../../src/model/account.ts';
import type { Post } from '../../src/model/post.ts';
import type { BrowseResult, PostResult } from '../../src/model/results.ts';
import type { Page, PostFound } from '../../src/providers/provider.ts';
import { arrangePosts } from '../../src/reads/post-view.ts';
import { formats } from '../../src/render/formats.ts';

const url = 'https://perch.example/a';
const common = { warnings: [], fetchedAt: '2026-03-04T09:12:00Z', source: 'bench', full: true };
const renderResult = await createResultRenderer({
  baseUrl: 'https://perch.example',
  xMirrors: [],
  mastodonSearchHost: 'mastodon.social',
  headingLevel: 3,
  toPage: (address) => address,
});

/** Renders a post with its thread in every format, on the front page, and as its embed. */
export function renderFound(found: PostFound): void {
  const { posts } = arrangePosts(found, {
    thread: 'conversation',
    context: 'full',
    replies: 'top',
    full: true,
    userDetail: 'all',
  });
  const result: PostResult = {
    ...common,
    kind: 'post',
    url,
    embedUrl: url,
    posts,
    userDetail: 'all',
  };
  const bodies = Object.values(formats.post).map(({ render }) => render(result));
  renderAsPage(bodies[0] ?? '');
  for (const { render } of Object.values(formats.embed)) {
    const size = { maxWidth: null, maxHeight: null };
    render({ kind: 'embed', post: found.post, baseUrl: url, cacheSeconds: 60, ...size });
  }
}

/** Renders a page of posts, below a profile, in every format. */
export function renderPosts({ items: posts }: Page<Post>): void {
  const subject = { resource: 'search', query: 'heron', feed: 'latest' } as const;
  renderList({ subject, profile: posts[0]?.author ?? null, items: { posts } });
}

/** Renders a page of accounts in every format. */
export function renderAccounts({ items: users }: Page<Account>): void {
  renderList({
    subject: { resource: 'followers', handle: 'a.example', url },
    profile: null,
    items: { users },
  });
}

function renderList(listed: Pick<BrowseResult, 'subject' | 'profile' | 'items'>): void {
  const place = { page: 1, limit: 100, next: null, degraded: false };
  const result: BrowseResult = { ...common, ...place, ...listed, kind: 'browse' };
  const bodies = Object.values(formats.browse).map(({ render }) => render(result));
  renderAsPage(bodies[0] ?? '');
}

/** Renders the first format, which is Markdown, as the front page does. */
function renderAsPage(markdown: string): void {
  if (Buffer.byteLength(markdown) <= maxRenderedBytes) renderResult(markdown);
}
