import * as z from 'zod';
import { postIn } from '../fetching/plan.ts';
import { Problem, quoteInput } from '../lib/problem.ts';
import { parsePostUrl } from './addresses/post-address.ts';
import { missingUrl, toPostPlan } from './get-post.ts';
import { flag, freeText, wholeNumber } from './parameters.ts';
import { createRead, type PlanContext, type ReadPlan } from './read.ts';

const maxPixels = 100_000;

const params = z.object({
  url: freeText('invalid_url').optional().describe('The URL of the post. Required.'),
  maxwidth: wholeNumber(maxPixels)
    .optional()
    .describe('Maximum width of the embedded post in pixels.'),
  maxheight: wholeNumber(maxPixels)
    .optional()
    .describe('Maximum height of the embedded post in pixels.'),
  nocache: flag(false).describe('Fetches new data instead of using the response cache.'),
  format: freeText('not_implemented')
    .optional()
    .describe('Format of the response. Only `json` is supported.'),
});

export const getOEmbed = createRead(
  {
    name: 'getOEmbed',
    title: 'Get the oEmbed document of a post',
    topic: 'embeds',
    summary: 'Reads the oEmbed document of a post.',
    tool: null,
    kind: 'embed',
    isBrowse: false,
    params,
    requires: ['url'],
  },
  parse,
);

function parse(given: z.output<typeof params>, context: PlanContext): ReadPlan<typeof params> {
  const { url, maxwidth, maxheight, nocache, format } = given;
  if (format !== undefined && format.toLowerCase() !== 'json') {
    const detail = `The parameter \`format\` has the value ${quoteInput(format)}; oEmbed documents are available as \`json\` only.`;
    throw new Problem('not_implemented', { detail });
  }
  if (url === undefined || url.trim() === '') throw missingUrl(url);
  const post = parsePostUrl(url.trim(), context);
  return {
    plan: {
      ...toPostPlan(post, { thread: false, replies: 'off', useCache: !nocache }),
      param: 'url',
    },
    format: 'json',
    hasFeeds: false,
    parameters: { ...given, url: undefined },
    assemble: (answer) => ({
      kind: 'embed',
      post: postIn(answer).post,
      baseUrl: context.baseUrl,
      maxWidth: maxwidth ?? null,
      maxHeight: maxheight ?? null,
      cacheSeconds: context.embedSeconds,
    }),
  };
}
