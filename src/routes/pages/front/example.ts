import type { PostResult } from '../../../model/results.ts';
import { reads } from '../../../reads/index.ts';
import { render } from '../../../render/formats.ts';
import { renderResult } from '../../../render/page/result.ts';
import type { ReadingOptions } from '../../reads/read-routes.ts';
import { createOwnLinks } from '../own-links.ts';
import { examplePostUrl, type FrontSite, renderExample, toQuestionLink } from './page.ts';

type ExampleOptions = Pick<ReadingOptions, 'reader' | 'context'> & { readonly site: FrontSite };

const shownPosts = 3;

const timeoutMs = 5000;

/** Returns an empty string without a sample. Throws if the archive cannot be read yet. */
export async function readExample({ reader, context, site }: ExampleOptions): Promise<string> {
  if (!site.hasSample) return '';
  const url = examplePostUrl(site);
  const parsed = reader.parse(reads.getPost, { url });
  const found = await reader.fetch(parsed, { signal: AbortSignal.timeout(timeoutMs) });
  const whole = reader.assemble(found) as PostResult;
  const result = { ...whole, posts: whole.posts.slice(0, shownPosts) };
  const toOwnPage = createOwnLinks(context, (_address, own) => toQuestionLink(own, site));
  const rendered = renderResult(result, { ...context, toOwnPage, level: 3 });
  const { body } = render(result, { format: 'markdown', context });
  return renderExample({ url, markdown: body, rendered }, site);
}
