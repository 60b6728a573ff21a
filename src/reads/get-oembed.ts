import { z } from 'zod';
import { Problem, quoteInput } from '../core/problem.ts';
import { postIn } from '../fetching/plan.ts';
import { readPostUrl } from './addresses/post-address.ts';
import { missingUrl, toPostPlan } from './get-post.ts';
import { freeText, truth, wholeNumber } from './parameters.ts';
import { createRead, type PlanContext, type ReadPlan } from './read.ts';

const mostPixels = 100_000;

/** The parameters of the oEmbed read (oEmbed 1.0 §2.2). */
const params = z.object({
  url: freeText('invalid_url').optional().describe('The URL of the post. Required.'),
  maxwidth: wholeNumber(mostPixels)
    .optional()
    .describe('The most pixels that the embedding page has in width.'),
  maxheight: wholeNumber(mostPixels).optional().describe('The most pixels that it has in height.'),
  nocache: truth(false).describe('Skips the response cache.'),
  format: freeText('not_implemented')
    .optional()
    .describe('`json`; another one is not implemented.'),
});

export const getOEmbed = createRead(
  {
    name: 'getOEmbed',
    summary: 'Reads the oEmbed document of a post.',
    tool: null,
    kind: 'embed',
    isBrowse: false,
    params,
    requires: ['url'],
  },
  understand,
);

function understand(
  { url, maxwidth, maxheight, nocache, format }: z.output<typeof params>,
  context: PlanContext,
): ReadPlan {
  if (format !== undefined && format.toLowerCase() !== 'json') {
    throw new Problem('not_implemented', {
      detail: `The parameter \`format\` has the value ${quoteInput(format)}; oEmbed documents are \`json\` only.`,
    });
  }
  if (url === undefined || url.trim() === '') throw missingUrl(url);
  const post = readPostUrl(url.trim(), context);
  return {
    plan: toPostPlan(post, { thread: false, replies: 'off', useCache: !nocache }),
    format: 'json',
    view: `embed ${maxwidth ?? ''} ${maxheight ?? ''}`,
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
