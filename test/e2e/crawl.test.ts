import LinkHeader from 'http-link-header';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isAdminPath } from '../../src/routes/reads/routes.ts';
import { asAdmin } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { listen } from '../support/listen.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

type Node = DefaultTreeAdapterTypes.Node;

/** Links and anchors of an HTML page. */
interface HtmlLinks {
  /** Raw values of `href`, `src`, `action` and `srcset`. */
  readonly targets: readonly string[];
  /** Ids that a fragment can refer to. */
  readonly ids: ReadonlySet<string>;
}

/** Parses the links and anchors of an HTML page. */
function readHtmlLinks(html: string): HtmlLinks {
  const attributes = listAttributes(parse(html));
  const valuesOf = (...names: readonly string[]) =>
    attributes.filter(({ name }) => names.includes(name)).map(({ value }) => value);
  const sources = valuesOf('srcset').flatMap((set) =>
    set.split(',').map((one) => one.trim().split(' ', 1)[0] ?? ''),
  );
  return {
    targets: [...valuesOf('href', 'src', 'action'), ...sources],
    ids: new Set(valuesOf('id')),
  };
}

function listAttributes(node: Node): readonly { readonly name: string; readonly value: string }[] {
  const below = 'childNodes' in node ? node.childNodes.flatMap(listAttributes) : [];
  return [...('attrs' in node ? node.attrs : []), ...below];
}

/** Returns the targets of a `Link` header. */
function readLinkTargets(header: string | null): readonly string[] {
  return header === null ? [] : LinkHeader.parse(header).refs.map(({ uri }) => uri);
}

/** Finds all URLs below a base URL in a text, in any markup. */
function findAddresses(text: string, base: string): readonly string[] {
  const escaped = base.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = text.matchAll(new RegExp(`${escaped}(?![\\w.:-])[^\\s"'<>\\\\^\`|)\\]]*`, 'g'));
  // Punctuation at the end of a sentence is not part of a URL.
  return [...found].map(([address]) => address.replace(/[.,;:!?…]+$/, ''));
}

/** Returns all string values of a JSON document at any depth, without property names. */
function listStrings(document: unknown): readonly string[] {
  if (typeof document === 'string') return [document];
  if (typeof document !== 'object' || document === null) return [];
  return Object.values(document).flatMap(listStrings);
}

/** Returns the paths without wildcards that a `robots.txt` allows. */
function readRobotsPaths(robots: string): readonly string[] {
  return [...robots.matchAll(/^Allow: (\/[^*\n]*)\$$/gm)].map(([, path = '']) => path);
}

/** What the server calls itself; the committed examples of the machine description call it so as well. */
const base = 'http://localhost:8080';

/** Where a program begins that knows only the base URL. */
const seeds = [
  '/',
  '/api',
  '/openapi.json',
  '/.well-known/ard.json',
  '/.well-known/ai-catalog.json',
  '/.well-known/api-catalog',
  '/llms.txt',
  '/robots.txt',
  '/.well-known/security.txt',
  '/docs',
];

/** Values of the sample for the parameters of paths. */
const values: Readonly<Record<string, string>> = {
  address: 'localhost:8080/ada.example',
  handle: 'ada.example',
  id: '1900000000000000001',
  n: '1',
  page: 'start',
  group: 'posts',
};

/** What a route needs beside its path. Others ignore it. */
const query = new URLSearchParams({
  url: `${base}/${values.handle}/status/${values.id}`,
  q: 'heron',
  handles: String(values.handle),
  platform: 'archive',
});

/** Addresses that are named and cannot be asked for as they are, with the reason. */
const exceptions: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/[?&]cursor=/, 'a cursor is signed with the key of the server that made the example'],
  [/\/media\/sha256\/\{hash\}/, 'a new server has imported no archive'],
  [/\/media\/\{signed\}/, 'an address of a picture is signed by the server'],
  [/\{file\}/, 'the name of an asset has a hash in it; the pages name each, and are crawled'],
];

/** What a server of the test has made. */
interface MadeIds {
  readonly keyId: string;
  readonly sessionId: string;
}

async function startSession(origin: string): Promise<string> {
  const reply = await fetch(`${origin}/svc/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Where are herons?' }),
  });
  const { sessionId } = z.object({ sessionId: z.string() }).parse(await reply.json());
  return sessionId;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly links: readonly string[];
  /** What a fragment can lead to; null where the body is no HTML. */
  readonly ids: ReadonlySet<string> | null;
}

const isExcepted = (address: string) => exceptions.some(([pattern]) => pattern.test(address));

/** Follows every address under the base from the seeds on, and tells which ones lead nowhere. */
async function crawl(): Promise<{ readonly broken: readonly string[]; readonly visited: number }> {
  const env = { PERCH_BASE_URL: base, PERCH_PUBLIC_ALLOWANCE: '100000', PERCH_SESSIONS: 'on' };
  const { url: origin, app } = await listen(env, { engine: createScriptedEngine() });
  const { id: keyId } = await app.createKey();
  const ids = { keyId, sessionId: await startSession(origin) };
  const answers = new Map<string, Answer>();
  const named = new Map<string, string>(seeds.map((path) => [`${base}${path}`, 'the seeds']));
  const broken: string[] = [];
  const visit = async (address: string, place: string) => {
    const known = answers.get(place);
    if (known !== undefined) return known;
    const answer = await ask(`${origin}${place}`);
    answers.set(place, answer);
    const found = collect(address, answer, ids).filter((one) => !named.has(one));
    for (const one of found) named.set(one, address);
    return answer;
  };
  // What is named while the loop runs is visited by it.
  for (const [address, by] of named) {
    const { pathname, search, hash } = new URL(address);
    const fault = faultOf(await visit(address, `${pathname}${search}`), hash);
    if (fault !== null) broken.push(`${address}: ${fault}, named by ${by}`);
  }
  return { broken, visited: answers.size };
}

async function ask(url: string): Promise<Answer> {
  const { pathname } = new URL(url);
  const asking = isAdminPath(pathname) ? asAdmin : {};
  const headers = { accept: 'text/html, */*;q=0.8', ...asking };
  // Redirects lead to feeds, some of which need parameters.
  const options = { headers, redirect: 'manual' } as const;
  const reply = await (pathname === '/mcp' ? initialize(url) : fetch(url, options));
  const type = reply.headers.get('content-type') ?? '';
  const body = await reply.text();
  const links = readLinkTargets(reply.headers.get('link'));
  const ids = type.startsWith('text/html') ? readHtmlLinks(body).ids : null;
  return { status: reply.status, type, body, links, ids };
}

/** The MCP server is spoken to in its protocol: GET is for streams, which a stateless server has not. */
function initialize(url: string): Promise<Response> {
  const client = { name: 'crawl', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client };
  return fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
}

function faultOf({ status, ids }: Answer, hash: string): string | null {
  if (status !== 200 && status !== 301) return `status ${status}`;
  if (hash === '' || ids === null) return null;
  return ids.has(decodeURIComponent(hash.slice(1))) ? null : `no anchor ${hash}`;
}

function collect(address: string, answer: Answer, ids: MadeIds): readonly string[] {
  const found = [...answer.links, ...collectBody(new URL(address), answer)];
  return found
    .filter((one) => one === base || one.startsWith(`${base}/`))
    .filter((one) => !isExcepted(one))
    .map((one) => new URL(expand(one, ids)).href);
}

function collectBody(address: URL, { type, body }: Answer): readonly string[] {
  const { pathname } = address;
  if (isResultPage(address)) return [];
  if (type.startsWith('text/html')) {
    const { targets } = readHtmlLinks(body);
    return targets.map((target) => new URL(target, address).href);
  }
  if (pathname === '/openapi.json') return [...listOperations(body), ...addressesIn(body)];
  if (pathname === '/api') return [...listRoutes(body), ...addressesIn(body)];
  if (pathname === '/robots.txt') {
    return [...readRobotsPaths(body).map((path) => base + path), ...findAddresses(body, base)];
  }
  if (pathname === '/llms.txt' || pathname === '/.well-known/security.txt') {
    return findAddresses(body, base);
  }
  // The result of a read: what it links to is content.
  return seeds.includes(pathname) ? addressesIn(body) : [];
}

/** Pages of posts and accounts lead to all others of the sample, which is content too. */
const isResultPage = ({ pathname, searchParams }: URL): boolean =>
  searchParams.get('format') === 'html' || (pathname === '/' && searchParams.has('q'));

/** Embeds and feeds among the examples contain HTML, which writes `&` in addresses as an entity, in XML twice. */
function addressesIn(json: string): readonly string[] {
  const texts = listStrings(JSON.parse(json)).map((text) => text.replaceAll(/&(?:amp;)+/g, '&'));
  return texts.flatMap((text) => findAddresses(text, base));
}

const described = z.object({
  surfaces: z.array(
    z.object({ routes: z.array(z.object({ method: z.string(), path: z.string() })) }),
  ),
  errors: z.object({ documentation: z.string(), codes: z.record(z.string(), z.number()) }),
});

/** The routes of `/api`, and the page that each problem names as its type. */
function listRoutes(body: string): readonly string[] {
  const { surfaces, errors } = described.parse(JSON.parse(body));
  const paths = surfaces.flatMap(({ routes }) => routes);
  return [
    ...paths.filter(({ method }) => method === 'GET').map(({ path }) => base + path),
    ...Object.keys(errors.codes).map((code) => `${errors.documentation}#${code}`),
  ];
}

const machineDescription = z.object({ paths: z.record(z.string(), z.looseObject({})) });

function listOperations(body: string): readonly string[] {
  const { paths } = machineDescription.parse(JSON.parse(body));
  return Object.entries(paths)
    .filter(([, item]) => 'get' in item)
    .map(([path]) => base + path);
}

function expand(address: string, { keyId, sessionId }: MadeIds): string {
  const decoded = address.replaceAll('%7B', '{').replaceAll('%7D', '}');
  const path = decoded.slice(base.length).replace('/keys/{id}', `/keys/${keyId}`);
  const known: Readonly<Record<string, string>> = { ...values, sessionId };
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole);
  const needs = /\/(?:posts|replies|search|oembed|opml|convert|browse|ask)$/;
  if (filled.includes('?') || !needs.test(filled)) {
    return `${base}${filled}`;
  }
  const resource = filled.endsWith('/browse') ? '&resource=profile' : '';
  const handle = /\/(?:browse|replies)$/.test(filled) ? `&handle=${values.handle}` : '';
  return `${base}${filled}?${query}${resource}${handle}`;
}

describe('a program that knows only the base URL', () => {
  clause('read.what.discovery_describes_surfaces')(
    'finds nothing that leads nowhere, wherever it follows a document, a Link or a page',
    async () => {
      const { broken, visited } = await crawl();

      expect(broken).toEqual([]);
      expect(visited).toBeGreaterThan(25);
    },
    120_000,
  );
});

describe('the crawl itself', () => {
  it('sees an answer that is no 200, and a fragment without its anchor', () => {
    const body = '<h2 id="a">A</h2>';
    const page = { type: 'text/html', body, links: [], ids: readHtmlLinks(body).ids };

    expect(faultOf({ ...page, status: 404 }, '')).toBe('status 404');
    expect(faultOf({ ...page, status: 200 }, '#b')).toBe('no anchor #b');
    expect(faultOf({ ...page, status: 200 }, '#a')).toBeNull();
  });

  it('finds addresses in text, links, JSON and templates', () => {
    const html = '<a href="/x?a=1&amp;b=2">x</a><img src="https://other.example/y"><a href="#z">';
    const links = [`${base}/linked`];
    const answer = { status: 200, type: 'text/html', body: html, links, ids: null };

    expect(findAddresses(`See <${base}/a>, [b](${base}/b) and ${base}/c.`, base)).toEqual([
      `${base}/a`,
      `${base}/b`,
      `${base}/c`,
    ]);
    expect(findAddresses('http://localhost:80800/a http://localhost:8080.evil/', base)).toEqual([]);
    expect(collect(`${base}/docs/start`, answer, { keyId: 'k1', sessionId: 's1' })).toEqual([
      `${base}/linked`,
      `${base}/x?a=1&b=2`,
      `${base}/docs/start#z`,
    ]);
    expect(expand(`${base}/{handle}/status/{id}`, { keyId: 'k1', sessionId: 's1' })).toBe(
      `${base}/ada.example/status/1900000000000000001`,
    );
    expect(expand(`${base}/api/admin/keys/{id}`, { keyId: 'k1', sessionId: 's1' })).toBe(
      `${base}/api/admin/keys/k1`,
    );
    expect(isExcepted(`${base}/ada.example/followers?cursor=x`)).toBe(true);
  });
});
