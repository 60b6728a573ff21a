import { type FrontFacts, listExamples, listSurfaces, nextLinks, sentence } from './front-facts.ts';

/** Gives the front page in Markdown: what Perch is, how to read with it, and what is next. */
export function renderFrontMarkdown(facts: FrontFacts): string {
  const { baseUrl } = facts;
  const surfaces = listSurfaces(facts).map(
    ({ name, text, example, docs }) => `- [${name}](${baseUrl}${docs}): ${text} \`${example}\``,
  );
  const examples = listExamples(facts).map(({ text }) => ask(baseUrl, text));
  const blocks = [
    '# Perch',
    sentence,
    'Ask this address for anything that can be pasted: the URL of a post, an account or a search, an `@handle`, words to search for.',
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    '## Three surfaces',
    surfaces.join('\n'),
    '## Next',
    nextLinks.map(({ path, name, text }) => `- [${name}](${baseUrl}${path}): ${text}`).join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function ask(baseUrl: string, text: string): string {
  return `curl -G ${baseUrl}/ --data-urlencode 'q=${text}'`;
}
