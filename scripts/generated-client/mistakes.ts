/** Incorrect code that the generated types must reject. `tsc` fails if a line after `@ts-expect-error` compiles. */
import createClient from 'openapi-fetch';
import type { components, paths } from './perch.d.ts';

const perch = createClient<paths, 'application/json'>({ baseUrl: 'http://localhost' });

// @ts-expect-error: there is no such path
export const noPath = perch.GET('/api/v1/nothing');

// @ts-expect-error: the search text is missing
export const noText = perch.GET('/api/v1/search', { params: { query: { limit: 2 } } });

export const noFeed = perch.GET('/api/v1/search', {
  // @ts-expect-error: there is no such feed
  params: { query: { q: 'heron', feed: 'loudest' } },
});

// @ts-expect-error: a handle is a string
export const noHandle = perch.GET('/{handle}', { params: { path: { handle: 7 } } });

// @ts-expect-error: the path has no POST operation
export const noWrite = perch.POST('/api/v1/posts');

// @ts-expect-error: a count can be unknown
export const noCount = (post: components['schemas']['Account']): number => post.followers;
