import type { TestApp } from './build-app.ts';

/** Returns the paths of the pages that the list of all API operations links to, in the order of the list. */
export async function listApiPages(app: Pick<TestApp, 'request'>): Promise<readonly string[]> {
  const { body } = await app.request('/docs/api.md');
  const names = [...body.matchAll(/\]\((api\/[\w-]+)\.md/g)].map(([, name]) => `/docs/${name}`);
  return [...new Set(names)];
}

/** Returns the Markdown of all pages about groups of API operations and about schemas. */
export async function readApiPages(app: Pick<TestApp, 'request'>): Promise<string> {
  const bodies: string[] = [];
  for (const path of await listApiPages(app)) bodies.push((await app.request(`${path}.md`)).body);
  return bodies.join('\n');
}
