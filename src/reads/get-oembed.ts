import { z } from 'zod';
import { Problem, quoteInput } from '../core/problem.ts';
import { postIn } from '../fetching/plan.ts';
import { embedReply } from '../model/results.ts';
import { readPostUrl } from './addresses/post-address.ts';
import { freeText, parseParameters, pixels, truth } from './parameters.ts';
import { missingUrl, toPostPlan } from './post-plan.ts';
import { nameViews, type PlanContext, type Read, type Understood } from './read.ts';

/** The parameters of the oEmbed read (oEmbed 1.0 §2.2). */
const getOEmbedParams = z.object({
  url: freeText('invalid_url').optional().describe('The URL of the post. Required.'),
  maxwidth: pixels().optional().describe('The most pixels that the embedding page has in width.'),
  maxheight: pixels().optional().describe('The most pixels that it has in height.'),
  nocache: truth().default(false).describe('Skips the response cache.'),
  format: freeText('not_implemented')
    .optional()
    .describe('`json`; another one is not implemented.'),
});

type Params = z.output<typeof getOEmbedParams>;

/** Reads a post's oEmbed document. */
export const getOEmbed: Read = {
  name: 'getOEmbed',
  summary: 'Reads the oEmbed document of a post.',
  tool: null,
  kind: 'embed',
  isBrowse: false,
  params: getOEmbedParams,
  requires: ['url'],
  reply: embedReply,
  understand: (given, context) => understand(parseParameters(getOEmbedParams, given), context),
};

function understand(params: Params, context: PlanContext): Understood {
  const { baseUrl, embedSeconds } = context;
  const { url, maxwidth, maxheight, nocache, format } = params;
  refuseOtherFormat(format);
  if (url === undefined || url.trim() === '') throw missingUrl(url);
  const post = readPostUrl(url.trim(), context);
  return {
    plan: toPostPlan(post, { thread: false, replies: 'off', useCache: !nocache }),
    format: 'json',
    views: nameViews(`embed ${maxwidth ?? ''} ${maxheight ?? ''}`),
    assemble: (answer) => ({
      kind: 'embed',
      post: postIn(answer).post,
      baseUrl,
      maxWidth: maxwidth ?? null,
      maxHeight: maxheight ?? null,
      cacheSeconds: embedSeconds,
    }),
  };
}

function refuseOtherFormat(format: string | undefined): void {
  if (format === undefined || format.toLowerCase() === 'json') return;
  throw new Problem('not_implemented', {
    detail: `The parameter \`format\` has the value ${quoteInput(format)}; oEmbed documents are \`json\` only.`,
  });
}
