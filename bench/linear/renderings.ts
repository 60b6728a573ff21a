import { setImmediate } from 'node:timers/promises';
import type { Account } from '../../src/model/account.ts';
import type { Post } from '../../src/model/post.ts';
import type { Page, PostFound } from '../../src/model/queries.ts';
import {
  type Format,
  feedFormats,
  type ListResult,
  type PostResult,
  type Result,
} from '../../src/model/results.ts';
import { arrangePosts } from '../../src/reads/get-post.ts';
import { render } from '../../src/render/formats.ts';
import { createPageUrls } from '../../src/routes/pages/own-links.ts';

const url = 'https://perch.example/a';
/** Maximum number of items on a rendered page. A server would return further items on the next page. */
const maxItems = 100;
const common = {
  urls: { self: url, first: url, previous: null },
  freshSeconds: 60,
  warnings: [],
  fetchedAt: '2026-03-04T09:12:00Z',
  source: 'bench',
  full: true,
};
/** Renders a post with its thread in all formats, and as an embed. */
export async function renderFound(found: PostFound): Promise<void> {
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
  const size = { maxWidth: null, maxHeight: null };
  const embed = {
    kind: 'embed',
    post: found.post,
    baseUrl: url,
    cacheSeconds: 60,
    ...size,
  } as const;
  await renderInFormats(result, [
    'markdown',
    'json',
    'obsidian',
    'preview',
    'html',
    ...feedFormats,
  ]);
  await renderInFormats(embed, ['json']);
}

/** Renders a profile with a page of posts in all formats. */
export async function renderPosts({ items }: Page<Post>): Promise<void> {
  const posts = items.slice(0, maxItems);
  const subject = { resource: 'search', query: 'heron', feed: 'latest' } as const;
  await renderList({ subject, profile: posts[0]?.author ?? null, items: { posts } });
}

/** Renders a page of accounts in all formats. */
export async function renderAccounts({ items }: Page<Account>): Promise<void> {
  const users = items.slice(0, maxItems);
  await renderList({
    subject: { resource: 'followers', handle: 'a.example', url },
    profile: null,
    items: { users },
  });
}

async function renderList(
  listed: Pick<ListResult, 'subject' | 'profile' | 'items'>,
): Promise<void> {
  const place = { page: 1, limit: maxItems, next: null, degraded: false };
  const result: ListResult = { ...common, ...place, ...listed, kind: 'browse' };
  const feeds = listed.items !== null && 'posts' in listed.items ? feedFormats : [];
  await renderInFormats(result, ['markdown', 'json', 'html', ...feeds]);
}

const addresses = {
  baseUrl: 'https://perch.example',
  xMirrors: [],
  mastodonSearchHost: 'mastodon.social',
};
const context = {
  baseUrl: addresses.baseUrl,
  toOwnPage: createPageUrls(addresses),
};

/** Renders a result in the given formats. Yields to the event loop between formats. */
async function renderInFormats(result: Result, names: readonly Format[]): Promise<void> {
  for (const name of names) {
    await setImmediate();
    render(result, { format: name, context });
  }
}
