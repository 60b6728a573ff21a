import { findVersioned } from '../../reads/routes.ts';

/** What the front page tells, in HTML and in Markdown. */
export interface FrontFacts {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether the archive holds the sample, which can be read without a network. */
  readonly hasSample: boolean;
}

/** What Perch is, in one sentence. */
export const sentence = 'Perch reads public social posts and answers with Markdown or JSON.';

/** Something to try: what it is called, and what is put into the box for it. */
export interface Example {
  readonly name: string;
  readonly text: string;
}

/** Gives what to try: of the sample where there is one, otherwise of the network. */
export function listExamples({ baseUrl, hasSample }: FrontFacts): readonly Example[] {
  if (!hasSample) {
    return [
      { name: 'a post', text: 'https://x.com/jack/status/20' },
      { name: 'a profile', text: '@jack' },
    ];
  }
  return [
    { name: 'a thread', text: `${baseUrl}/ada.example/status/1900000000000000001` },
    { name: 'a profile', text: '@ada.example' },
    { name: 'followers', text: `${baseUrl}/ada.example/followers` },
    { name: 'a search', text: `${baseUrl}/search?platform=sample&q=heron` },
  ];
}

/** A way to reach the reads. */
export interface Surface {
  readonly name: string;
  /** Sentences; words in backticks are code. */
  readonly text: string;
  /** What shows it: a command, or an address. */
  readonly example: string;
  /** The path of the page that tells more. */
  readonly docs: string;
}

/** Gives the three surfaces. */
export function listSurfaces({ baseUrl, hasSample }: FrontFacts): readonly Surface[] {
  const handle = hasSample ? 'ada.example' : 'jack';
  const path = findVersioned('getProfile').path.replace('{handle}', handle);
  return [
    {
      name: 'Permalinks',
      text: 'Put this address in the place of the site’s. The path stays as it is, and so does what it means.',
      example: `curl ${baseUrl}/${handle}`,
      docs: '/docs/start',
    },
    {
      name: 'API',
      text: 'The same bytes under a version that keeps working. JSON by `Accept: application/json` or `format=json`.',
      example: `curl '${baseUrl}${path}?format=json'`,
      docs: '/docs/posts',
    },
    {
      name: 'MCP',
      text: 'The same reads as tools for an assistant. Every tool only reads.',
      example: `${baseUrl}/mcp`,
      docs: '/docs/mcp',
    },
  ];
}

/** A page or document that somebody may want next. */
export interface NextLink {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

/** What a developer wants next. */
export const nextLinks: readonly NextLink[] = [
  { path: '/docs/start', name: 'Start here', text: 'five minutes, no network' },
  { path: '/docs', name: 'Documentation', text: 'every read and its parameters' },
  { path: '/openapi.json', name: 'OpenAPI', text: 'every route, for generators' },
  { path: '/docs/keys', name: 'Keys and limits', text: 'what is free, and what a key adds' },
  { path: '/docs/errors', name: 'Errors', text: 'every code, and what to do' },
  { path: '/docs/self-hosting', name: 'Self-hosting', text: 'one process, no configuration' },
  { path: '/llms.txt', name: 'llms.txt', text: 'all of this for a model' },
];
