import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Config, version } from './config.ts';
import type { Clock } from './core/clock.ts';
import { endpoints } from './endpoints.ts';
import type { DiscoveryFacts } from './http/discovery-facts.ts';
import { discoveryPaths } from './http/discovery-links.ts';
import { type DocSummary, readDocSummaries } from './http/doc-summaries.ts';
import { writeLlmsText } from './http/llms-text.ts';
import { describeOpenApi } from './http/openapi.ts';
import type { McpDocument } from './mcp/documents.ts';
import { toAllowanceLimits } from './open-access.ts';

/** What the documents depend on. */
export interface DocumentOptions {
  readonly config: Config;
  readonly clock: Clock;
}

/** The pages of the documentation; beside the sources as beside what is built of them. */
const docsFolder = fileURLToPath(new URL('../docs/', import.meta.url));

/** Gives what the discovery documents tell of a server with this configuration. */
export function toDiscoveryFacts(config: Config): DiscoveryFacts {
  return {
    baseUrl: config.PERCH_BASE_URL,
    version,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    endpoints,
    limits: toAllowanceLimits(config),
    contacts: { keys: config.PERCH_CONTACT_URL, security: config.PERCH_SECURITY_CONTACT },
    pages: () => readDocSummaries(docsFolder),
  };
}

/** Gives the documents that MCP serves as resources (decisions section 8). */
export function listDocuments({ config, clock }: DocumentOptions): readonly McpDocument[] {
  const facts = toDiscoveryFacts(config);
  const { baseUrl } = facts;
  return [
    {
      uri: `${baseUrl}${discoveryPaths.llms}`,
      name: 'llms.txt',
      title: 'What there is, with links',
      mimeType: 'text/plain',
      read: () => writeLlmsText(facts),
    },
    {
      uri: `${baseUrl}${discoveryPaths.openApi}`,
      name: 'openapi.json',
      title: 'The machine description (OpenAPI)',
      mimeType: 'application/json',
      read: () => JSON.stringify(describeOpenApi({ ...facts, nowMs: clock.now() })),
    },
    ...facts.pages().map((page) => toDocument(page, baseUrl)),
  ];
}

function toDocument({ name, title }: DocSummary, baseUrl: string): McpDocument {
  return {
    uri: `${baseUrl}${discoveryPaths.docs}/${name}`,
    name: `docs/${name}`,
    title,
    mimeType: 'text/markdown',
    read: () => readFile(`${docsFolder}${name}.md`, 'utf8'),
  };
}
