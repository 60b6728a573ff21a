import type { BrowseResult, FeedFormat, PostResult } from '../../src/model/results.ts';
import { createFeedRenderer } from '../../src/render/feeds/feeds.ts';

export const renderFeed = (result: BrowseResult | PostResult, format: FeedFormat): string =>
  createFeedRenderer(format)(result, { baseUrl: 'https://perch.example' });
