import { allReads } from '../../reads/index.ts';
import { askPath } from '../pages/layout.ts';
import { historyRoutes, readRoutes } from '../reads/routes.ts';
import { type DiscoveryFacts, discoveryPaths } from './discovery-facts.ts';

/** Writes `/llms.txt` (llmstxt.org): a title, a summary in a quote, the reads, then sections of links. */
export function writeLlmsText({ baseUrl, endpoints, pages }: DiscoveryFacts): string {
  const routes = [...readRoutes, ...historyRoutes].filter(({ surface }) => surface === 'v1');
  const canBeAsked = endpoints.some(({ path }) => path === askPath);
  const blocks = [
    '# Perch',
    '> Reads public social posts, profiles, followers and searches, and answers with Markdown or JSON. Nobody needs an account or a key, and nothing can be written.',
    `Put the path of a post, or its whole URL, behind ${baseUrl}, or ask the versioned routes:`,
    routes.map(({ path, read }) => `- \`GET ${path}\`: ${allReads[read].summary}`).join('\n'),
    'Replies are Markdown unless `format=json` or `Accept: application/json` asks for JSON. Take fields from the JSON and do not parse the Markdown. A list has `nextCursor`, which is the `cursor` of its next page. An error is a problem document: switch on `code`, do what `resolution` says, and wait as long as `Retry-After` says.',
    '## Descriptions for programs',
    listDescriptions({ baseUrl, endpoints }).join('\n'),
    '## Documentation',
    [
      ...pages().map(
        ({ name, title, summary }) =>
          `- [${title}](${baseUrl}${discoveryPaths.docs}/${name}): ${summary}`,
      ),
      ...(canBeAsked ? [linkAskPage(baseUrl)] : []),
    ].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function linkAskPage(baseUrl: string): string {
  return `- [Ask](${baseUrl}${askPath}): A question as \`q\` is answered from these pages; as Markdown with \`Accept: text/markdown\``;
}

const titles = {
  [discoveryPaths.openApi]: 'OpenAPI description',
  [discoveryPaths.apiIndex]: 'Short description',
  [discoveryPaths.serverCard]: 'Card of the MCP server',
  [discoveryPaths.apiCatalog]: 'API catalog',
  [discoveryPaths.ard]: 'ARD manifest',
};

function listDescriptions({ baseUrl, endpoints }: Pick<DiscoveryFacts, 'baseUrl' | 'endpoints'>) {
  return Object.entries(titles).flatMap(([path, title]) => {
    const served = endpoints.find((endpoint) => endpoint.path === path);
    return served === undefined ? [] : [`- [${title}](${baseUrl}${path}): ${served.summary}`];
  });
}
