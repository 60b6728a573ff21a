import type { TestClient } from './build-app.ts';
import { parsePage } from './render-html.ts';

/** Link in a page, and its target. */
export interface FollowedLink {
  readonly from: string;
  readonly to: string;
  readonly status: number;
  /** Whether the page has the element of the fragment. True without a fragment. */
  readonly hasAnchor: boolean;
}

/** Follows all links below a prefix, recursively. */
export async function crawl(
  app: TestClient,
  start: string,
  prefix: string,
): Promise<readonly FollowedLink[]> {
  const pages = new Map<
    string,
    { status: number; ids: ReadonlySet<string>; links: readonly string[] }
  >();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const page = await open(app, path);
    pages.set(path, page);
    waiting.push(...page.links.map(withoutFragment).filter((link) => link.startsWith(prefix)));
  }
  return [...pages].flatMap(([from, { links }]) =>
    links.flatMap((to) => {
      const target = pages.get(withoutFragment(to) || from);
      const [, fragment] = to.split('#');
      if (target === undefined) return [];
      const hasAnchor = fragment === undefined || target.ids.has(fragment);
      return [{ from, to, status: target.status, hasAnchor }];
    }),
  );
}

async function open(app: TestClient, path: string) {
  const reply = await app.request(path, { headers: { accept: 'text/html' } });
  const isHtml = `${reply.headers['content-type']}`.startsWith('text/html');
  const { elements } = isHtml ? parsePage(reply.body) : { elements: [] };
  return {
    status: reply.statusCode,
    ids: new Set(elements.flatMap(({ attributes }) => attributes.id ?? [])),
    links: elements.flatMap(({ tag, attributes: { href, src, rel } }) =>
      tag === 'link' && rel === 'canonical' ? [] : (href ?? src ?? []),
    ),
  };
}

function withoutFragment(link: string): string {
  return link.split('#', 1)[0] ?? '';
}
