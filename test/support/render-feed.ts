import type { FeedFormat, ListResult, PostResult } from '../../src/model/results.ts';
import { createFeedRenderer } from '../../src/render/feeds/feeds.ts';

export const renderFeed = (result: ListResult | PostResult, format: FeedFormat): string =>
  createFeedRenderer(format)(result, { baseUrl: 'https://perch.example' });
