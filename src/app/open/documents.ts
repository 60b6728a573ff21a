import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { packagePath } from '../../core/files/package-path.ts';
import { toJsonBody } from '../../core/http/to-json-body.ts';
import { version } from '../../core/version.ts';
import { cacheForTheDay, writeLlmsText } from '../../http/discovery/documents.ts';
import { type DiscoveryFacts, discoveryPaths } from '../../http/discovery/surfaces.ts';
import { describeOpenApi } from '../../http/openapi/document.ts';
import { readExamples } from '../../http/openapi/examples.ts';
import { createAssets } from '../../http/pages/assets.ts';
import { createLibrary, type Library } from '../../http/pages/docs/library.ts';
import { navigation } from '../../http/pages/docs/navigation.ts';
import type { FrontSite } from '../../http/pages/front/page.ts';
import type { McpDocument } from '../../mcp/server.ts';
import { listEndpoints } from '../endpoints.ts';
import type { AppBasics } from '../options.ts';
import { toAllowanceLimits } from './bounds.ts';

/** Returns a function that returns the documentation pages. They are read on its first call. */
export function openLibrary(logger: FastifyBaseLogger): () => Library {
  return createLibrary({ folder: packagePath('docs'), navigation, logger });
}

/** Returns the facts that all pages need. */
export function toSite({ config, logger }: AppBasics, hasAskPage: boolean): FrontSite {
  return {
    baseUrl: config.PERCH_BASE_URL,
    assets: createAssets(packagePath('assets'), logger),
    hasAskPage,
    hasSample: config.PERCH_SAMPLE && config.PERCH_PROVIDERS.includes('archive'),
  };
}

type DocumentOptions = Readonly<{ config: Config; library: () => Library }>;

export function toDiscoveryFacts({ config, library }: DocumentOptions): DiscoveryFacts {
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

/** Returns the documents that MCP serves as resources. */
export function listDocuments(options: DocumentOptions & { clock: Clock }): readonly McpDocument[] {
  const facts = toDiscoveryFacts(options);
  const { baseUrl } = facts;
  const describe = (nowMs: number) =>
    toJsonBody(describeOpenApi({ ...facts, nowMs, examples: readExamples(baseUrl) }));
  return [
    {
      uri: `${baseUrl}${discoveryPaths.llms}`,
      name: 'llms.txt',
      title: 'Overview with links',
      mimeType: 'text/plain',
      read: cacheForTheDay(() => writeLlmsText(facts), options.clock),
    },
    {
      uri: `${baseUrl}${discoveryPaths.openApi}`,
      name: 'openapi.json',
      title: 'OpenAPI description',
      mimeType: 'application/json',
      read: cacheForTheDay(describe, options.clock),
    },
    ...options.library().pages.map(({ name, title, source }) => ({
      uri: `${baseUrl}${discoveryPaths.docs}/${name}`,
      name: `docs/${name}`,
      title,
      mimeType: 'text/markdown',
      read: () => source,
    })),
  ];
}
