import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import { findReply } from './docs/find-page.ts';
import { navigation } from './docs/navigation.ts';
import { assetPath, docsPath, findPath, maxQueryLength } from './paths.ts';

const page = { 'text/html': 'text', 'text/markdown': 'text' } as const;
const negotiated = listEndpointHeaders(['ETag', 'Vary']);
const tagged = listEndpointHeaders(['ETag']);
const notModified = { status: 304, description: 'The caller has it already.' } as const;
const source = { 'text/markdown': 'text' } as const;
const redirected = {
  status: 308,
  description: 'The page has another spelling.',
  headers: { Location: { description: 'The path of the page.' } },
} as const;
const names = navigation.flatMap(({ pages }) => pages.map(({ name }) => name));

/** The routes of the documentation, for the descriptions of the service. */
export const docsEndpoints: readonly Endpoint[] = [
  {
    id: 'getDocs',
    method: 'GET',
    path: docsPath,
    tag: 'pages',
    summary:
      'Lists the pages of the documentation, as HTML, or as Markdown where `Accept` prefers it.',
    replies: [
      {
        status: 200,
        description: 'The pages in their groups.',
        content: page,
        headers: negotiated,
      },
      { ...notModified, headers: negotiated },
    ],
    problems: ['route_not_found'],
    access: 'open',
  },
  {
    id: 'getDocsPage',
    method: 'GET',
    path: `${docsPath}/{page}`,
    tag: 'pages',
    summary:
      'Gives a page of the documentation, as HTML, or as Markdown where `Accept` prefers it.',
    parameters: { path: z.object({ page: z.enum(names).describe('The name of the page.') }) },
    replies: [
      { status: 200, description: 'The page.', content: page, headers: negotiated },
      { ...notModified, headers: negotiated },
    ],
    problems: ['route_not_found'],
    access: 'open',
  },
  {
    id: 'getDocsSource',
    method: 'GET',
    path: `${docsPath}/{page}.md`,
    tag: 'pages',
    summary: 'Gives the Markdown of a page of the documentation, whatever `Accept` says.',
    parameters: {
      path: z.object({
        page: z
          .string()
          .describe('The name of the page.')
          .meta({ examples: names.slice(0, 3) }),
      }),
    },
    replies: [
      { status: 200, description: 'The page.', content: source, headers: tagged },
      { ...notModified, headers: tagged },
      redirected,
    ],
    problems: ['route_not_found'],
    access: 'open',
  },
  {
    id: 'searchDocs',
    method: 'GET',
    path: findPath,
    tag: 'pages',
    summary: 'Searches the documentation; HTML, or JSON where `Accept` prefers it.',
    parameters: {
      query: z.object({
        q: z
          .string()
          .max(maxQueryLength)
          .optional()
          .describe('The text to look for; HTML without it is the form alone, JSON needs it.'),
      }),
    },
    replies: [
      {
        status: 200,
        description: 'What was found, the best first.',
        content: { 'text/html': 'text', 'application/json': findReply },
        headers: negotiated,
      },
      { ...notModified, headers: negotiated },
    ],
    problems: ['missing_query', 'invalid_query', 'invalid_option', 'route_not_found'],
    access: 'open',
  },
  {
    id: 'getAsset',
    method: 'GET',
    path: `${assetPath}{file}`,
    tag: 'pages',
    summary: 'Gives a style, script or picture of the pages.',
    parameters: {
      path: z.object({ file: z.string().describe('Its name, as the pages write it.') }),
    },
    replies: [
      {
        status: 200,
        description: 'The file; for good, where its name has the hash of its content.',
        content: { 'text/css': 'text', 'text/javascript': 'text', 'image/svg+xml': 'text' },
        headers: tagged,
      },
      { ...notModified, headers: tagged },
    ],
    problems: ['route_not_found'],
    access: 'open',
  },
];
