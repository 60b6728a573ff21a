import type { ParsedUrlQuery } from 'node:querystring';
import type { Fetching } from '../../app/open/fetching.ts';
import { reads } from '../../reads/index.ts';
import type { CommandContext } from '../command.ts';

/** A post that is printed: the parameters of its read. */
export interface PostPrint {
  readonly given: Readonly<ParsedUrlQuery>;
}

/** Prints a post. Throws Problem. */
export async function printPost(
  { given }: PostPrint,
  { reader }: Fetching,
  { stdout }: Pick<CommandContext, 'stdout'>,
): Promise<void> {
  const answered = await reader.fetch(reader.understand(reads.getPost, given));
  const format = answered.understood.format ?? 'markdown';
  const { body, mediaType } = await reader.represent(answered, format, {});
  const text = body.toString().replace(/\n?$/, '\n');
  if (mediaType.includes('json')) stdout.writeJson(text);
  else stdout.write(text);
}
