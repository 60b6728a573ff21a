import type { Endpoint } from '../core/endpoint.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { discoveryPaths } from './discovery-links.ts';
import { askPath } from './pages/paths.ts';
import { previewProducts } from './preview-crawlers.ts';

/**
 * Gives the document of `/robots.txt` (RFC 9309): crawlers may fetch what describes the service. Reads
 * are refused, because each of them can cost the sources a request, and their content is not ours; so
 * are questions, each of which costs an answer.
 */
export function writeRobotsText({ baseUrl, endpoints, linkPreviews }: DiscoveryFacts): string {
  const lines = [
    '# Pages and descriptions are open. Reads cost upstreams a request, so they are not for crawlers.',
    'User-agent: *',
    ...toPatterns(endpoints).map((pattern) => `Allow: ${pattern}`),
    ...(endpoints.some(({ path }) => path === askPath) ? [`Disallow: ${askPath}?`] : []),
    'Disallow: /',
    ...(linkPreviews ? listPreviewRules() : []),
    '',
    // A directive of ARD §5.1; RFC 9309 §2.2.4 lets others be.
    `Agentmap: ${baseUrl}${discoveryPaths.ard}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Gives what the public documents are matched by; a parameter in a path stands for whatever follows. */
function toPatterns(endpoints: readonly Endpoint[]): readonly string[] {
  const open = endpoints.filter(
    ({ tag, method }) => method === 'GET' && (tag === 'discovery' || tag === 'pages'),
  );
  const patterns = open.map(({ path }) => {
    const [fixed = ''] = path.split('{', 1);
    return fixed === path ? `${path}$` : fixed;
  });
  return [...new Set(patterns)];
}

/** Crawlers of link previews come for the post that somebody has just shared. */
function listPreviewRules(): readonly string[] {
  return [
    '',
    ...previewProducts.map((name) => `User-agent: ${name}`),
    'Allow: /',
    'Disallow: /api/',
  ];
}
