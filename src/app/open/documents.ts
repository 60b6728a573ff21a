import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { packagePath } from '../../core/files/package-path.ts';
import { version } from '../../core/version.ts';
import { keepForTheDay, writeLlmsText } from '../../http/discovery/documents.ts';
import { type DiscoveryFacts, discoveryPaths } from '../../http/discovery/surfaces.ts';
import { describeOpenApi } from '../../http/openapi/document.ts';
import { readExamples } from '../../http/openapi/examples.ts';
import { createLibrary, type Library, type LibraryPage } from '../../http/pages/docs/library.ts';
import { navigation } from '../../http/pages/docs/navigation.ts';
import type { McpDocument } from '../../mcp/server.ts';
import { listEndpoints } from '../endpoints.ts';
import { toAllowanceLimits } from './bounds.ts';

/** What the documents depend on. */
export interface DocumentOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly library: () => Library;
}

/** Gives the pages of the documentation, read when they are first asked for. */
export function openLibrary(logger: FastifyBaseLogger): () => Library {
  return createLibrary({ folder: packagePath('docs'), navigation, logger });
}

/** Gives what the discovery documents tell of a server with this configuration. */
export function toDiscoveryFacts({
  config,
  library,
}: Omit<DocumentOptions, 'clock'>): DiscoveryFacts {
  return {
    baseUrl: config.PERCH_BASE_URL,
    version,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    endpoints: listEndpoints(config.PERCH_SESSIONS ? config.PERCH_SESSION_PREFIX : null),
    limits: toAllowanceLimits(config),
    contacts: { keys: config.PERCH_CONTACT_URL, security: config.PERCH_SECURITY_CONTACT },
    pages: () => library().pages,
  };
}

/** Gives the documents that MCP serves as resources. */
export function listDocuments(options: DocumentOptions): readonly McpDocument[] {
  const facts = toDiscoveryFacts(options);
  const { baseUrl } = facts;
  return [
    {
      uri: `${baseUrl}${discoveryPaths.llms}`,
      name: 'llms.txt',
      title: 'What there is, with links',
      mimeType: 'text/plain',
      read: keepForTheDay(() => writeLlmsText(facts), options.clock),
    },
    {
      uri: `${baseUrl}${discoveryPaths.openApi}`,
      name: 'openapi.json',
      title: 'The machine description (OpenAPI)',
      mimeType: 'application/json',
      read: keepForTheDay(
        (nowMs) =>
          JSON.stringify(describeOpenApi({ ...facts, nowMs, examples: readExamples(baseUrl) })),
        options.clock,
      ),
    },
    ...options.library().pages.map((page) => toDocument(page, baseUrl)),
  ];
}

function toDocument({ name, title, source }: LibraryPage, baseUrl: string): McpDocument {
  return {
    uri: `${baseUrl}${discoveryPaths.docs}/${name}`,
    name: `docs/${name}`,
    title,
    mimeType: 'text/markdown',
    read: () => source,
  };
}
