import { parse } from 'yaml';
import { z } from 'zod';

const frontMatter = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});

/** What a file says of itself before its text, and the text with those lines blank. */
export interface FrontMatter {
  readonly title: string;
  readonly description: string;
  readonly rest: string;
}

/** Takes YAML front matter off a text. Lines keep their numbers. */
export function takeFrontMatter(text: string): FrontMatter {
  const [whole, body] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (whole === undefined || body === undefined) return { title: '', description: '', rest: text };
  const rest = whole.replaceAll(/[^\n]/g, '') + text.slice(whole.length);
  const { title = '', description = '' } = readFields(body);
  return { title, description, rest };
}

function readFields(body: string): z.output<typeof frontMatter> {
  try {
    return frontMatter.catch({}).parse(parse(body, { maxAliasCount: 0 }));
  } catch {
    return {}; // Front matter that is no YAML says nothing.
  }
}
