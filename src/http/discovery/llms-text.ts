import { allReads } from '../../reads/index.ts';
import { askPath } from '../pages/paths.ts';
import { type HistoryRoute, historyRoutes, type ReadRoute, readRoutes } from '../reads/routes.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { discoveryPaths, discoveryTitles } from './discovery-links.ts';

/**
 * Gives the document of `/llms.txt` (llmstxt.org): a title, a summary in a quote, what can be asked for,
 * then sections of links. Ends with a line feed.
 */
export function writeLlmsText(facts: DiscoveryFacts): string {
  const { baseUrl } = facts;
  const blocks = [
    '# Perch',
    '> Reads public social posts, profiles, followers and searches, and answers with Markdown or JSON. Nobody needs an account or a key, and nothing can be written.',
    `Put the path of a post, or its whole URL, behind ${baseUrl}, or ask the versioned routes:`,
    [...readRoutes, ...historyRoutes].filter(({ surface }) => surface === 'v1').map(writeRoute),
    'Replies are Markdown unless `format=json` or `Accept: application/json` asks for JSON. Take fields from the JSON and do not parse the Markdown. A list has `nextCursor`, which is the `cursor` of its next page. An error is a problem document: switch on `code`, do what `resolution` says, and wait as long as `Retry-After` says.',
    '## Descriptions for programs',
    listDescriptions(facts),
    '## Documentation',
    [...facts.pages().map((page) => writePage(page, baseUrl)), ...listAsking(facts)],
  ];
  return `${blocks.map((block) => [block].flat().join('\n')).join('\n\n')}\n`;
}

function writePage(
  { name, title, summary }: ReturnType<DiscoveryFacts['pages']>[number],
  baseUrl: string,
): string {
  return `- [${title}](${baseUrl}${discoveryPaths.docs}/${name}): ${summary}`;
}

/** A server with sessions answers questions about its documentation. */
function listAsking({ baseUrl, endpoints }: DiscoveryFacts): readonly string[] {
  if (!endpoints.some(({ path }) => path === askPath)) return [];
  return [
    `- [Ask](${baseUrl}${askPath}): A question as \`q\` is answered from these pages; as Markdown with \`Accept: text/markdown\``,
  ];
}

function writeRoute({ path, read }: ReadRoute | HistoryRoute): string {
  return `- \`GET ${path}\`: ${allReads[read].summary}`;
}

/** Links the documents that describe the service to a program, those that say most first. */
function listDescriptions({ baseUrl, endpoints }: DiscoveryFacts): readonly string[] {
  return Object.entries(discoveryTitles).flatMap(([path, title]) => {
    const served = endpoints.find((endpoint) => endpoint.path === path);
    return served === undefined ? [] : [`- [${title}](${baseUrl}${path}): ${served.summary}`];
  });
}
