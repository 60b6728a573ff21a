import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { parseQuery } from '../../lib/http/url.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import { type AccountReference, parseHandle } from '../../model/reference.ts';
import { freeText, parseParameters } from '../../reads/parameters.ts';
import { opmlMediaType, renderOpml } from '../../render/feeds/xml-feeds.ts';
import { listEndpointHeaders, notModified } from '../openapi/headers.ts';
import { prepareBody } from '../pages/layout.ts';
import { sendPrepared } from '../reply.ts';
import { declareRoutes, serveRoutes } from '../route.ts';

const maxHandles = 100;

const query = z.object({
  handles: freeText('invalid_handle').describe(
    `Handles of accounts, separated by commas: 1 to ${maxHandles}.`,
  ),
});

const headers = listEndpointHeaders(['ETag']);

export const opmlRoutes = declareRoutes(
  { method: 'GET', tag: 'v1', access: 'open' },
  {
    getOpml: {
      path: '/api/v1/opml',
      topic: 'feeds',
      title: 'List the feeds of accounts as OPML',
      summary: 'Lists the feeds of accounts as OPML, which feed readers import.',
      description:
        'Perch does not read the accounts, and does not check whether they exist. The request does not count towards an allowance.',
      parameters: { query },
      replies: [
        {
          status: 200,
          description: 'The list of Atom feeds, in the order of the handles.',
          content: { [opmlMediaType]: 'text' },
          headers,
        },
        { status: 304, description: notModified, headers },
      ],
      problems: ['invalid_handle', 'invalid_option'],
    },
  },
);

export async function opmlPlugin(
  app: FastifyInstance,
  { baseUrl }: { readonly baseUrl: string },
): Promise<void> {
  serveRoutes(app, opmlRoutes, {
    getOpml: (request, reply) => {
      const { handles } = parseParameters(query, parseQuery(request.raw.url ?? ''));
      const prepared = prepareBody(renderOpml(parseHandles(handles), { baseUrl }), {
        'content-type': opmlMediaType,
        'cache-control': 'public, max-age=60',
      });
      return sendPrepared(reply, prepared);
    },
  });
}

/** Parses handles separated by commas; throws `invalid_handle` or `invalid_option`. */
function parseHandles(text: string): readonly AccountReference[] {
  const accounts = new Map<string, AccountReference>();
  for (const written of text.split(',')) {
    const account = parseHandle(written.trim());
    if (account === null) {
      const detail = `The parameter \`handles\` contains ${quoteInput(written)}, which is not a valid handle on any platform.`;
      throw new Problem('invalid_handle', { detail, param: 'handles' });
    }
    accounts.set(account.handle, account);
  }
  if (accounts.size > maxHandles) {
    const detail = `The parameter \`handles\` contains ${accounts.size} handles. The maximum is ${maxHandles}.`;
    throw new Problem('invalid_option', { detail, param: 'handles' });
  }
  return [...accounts.values()];
}
