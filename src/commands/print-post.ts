import type { ParsedUrlQuery } from 'node:querystring';
import type { Fetching } from '../open-fetching.ts';
import { reads } from '../reads/index.ts';
import { render } from '../render/formats.ts';
import type { CommandContext } from './command.ts';

/** A post that is printed: the parameters of its read. */
export interface PostPrint {
  readonly given: Readonly<ParsedUrlQuery>;
}

/** Prints a post. Throws Problem. */
export async function printPost(
  { given }: PostPrint,
  { fetcher, context }: Fetching,
  { stdout }: Pick<CommandContext, 'stdout'>,
): Promise<void> {
  const understood = reads.getPost.understand(given, context);
  const answer = await fetcher.fetch(understood.plan);
  const { body, mediaType } = render(understood.assemble(answer), understood.format ?? 'markdown');
  const text = body.endsWith('\n') ? body : `${body}\n`;
  if (mediaType.includes('json')) stdout.writeJson(text);
  else stdout.write(text);
}
