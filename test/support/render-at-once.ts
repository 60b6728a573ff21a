import { runAtOnce } from '../../src/core/scheduling/slices.ts';
import type { BrowseResult, FeedFormat, PostResult } from '../../src/model/results.ts';
import * as feeds from '../../src/render/feeds/feeds.ts';
import * as json from '../../src/render/json.ts';
import * as browsePage from '../../src/render/markdown/browse-page.ts';
import * as postPage from '../../src/render/markdown/post-page.ts';
import * as obsidian from '../../src/render/obsidian.ts';

/** Renders a post as a Markdown page synchronously. */
export function renderPostPage(result: PostResult): string {
  return runAtOnce(postPage.renderPostPage(result));
}

/** Renders a browse result as a Markdown page synchronously. */
export function renderBrowsePage(result: BrowseResult): string {
  return runAtOnce(browsePage.renderBrowsePage(result));
}

/** Renders a post as JSON synchronously. */
export function renderPostJson(result: PostResult): string {
  return runAtOnce(json.renderPostJson(result));
}

/** Renders a browse result as JSON synchronously. */
export function renderBrowseJson(result: BrowseResult): string {
  return runAtOnce(json.renderBrowseJson(result));
}

/** Renders a post as an Obsidian note synchronously. */
export function renderPostNote(result: PostResult): string {
  return runAtOnce(obsidian.renderPostNote(result));
}

/** Renders a result as a feed synchronously. */
export function renderFeed(result: BrowseResult | PostResult, format: FeedFormat): string {
  const context = { baseUrl: 'https://perch.example' };
  return runAtOnce(feeds.createFeedRenderer(format)(result, context));
}
