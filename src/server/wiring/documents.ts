import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { packagePath } from '../../lib/files/package-path.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import { once } from '../../lib/once.ts';
import { version } from '../../lib/version.ts';
import type { PlanContext } from '../../reads/read.ts';
import {
  cacheForTheDay,
  describeForPrograms,
  writeLlmsText,
} from '../../routes/discovery/documents.ts';
import { type DiscoveryFacts, discoveryPaths } from '../../routes/discovery/surfaces.ts';
import type { McpDocument } from '../../routes/mcp/server.ts';
import { describeAdminApi, describeOpenApi, describeTags } from '../../routes/openapi/document.ts';
import { readExamples } from '../../routes/openapi/examples.ts';
import { createAssets } from '../../routes/pages/assets.ts';
import { writeApiPages } from '../../routes/pages/docs/api/write-pages.ts';
import { createLibrary, type Library } from '../../routes/pages/docs/library.ts';
import { navigation } from '../../routes/pages/docs/navigation.ts';
import type { FrontSite } from '../../routes/pages/front/page.ts';
import type { AppContext } from '../context.ts';
import { adminEndpoints, listEndpoints } from '../endpoints.ts';
import { toAllowanceLimits } from './bounds.ts';

/** Creates a function that returns the documentation pages, read on its first call. */
export function openLibrary(config: Config, logger: FastifyBaseLogger): () => Library {
  const options = { config, library: () => library() };
  const listed = navigation.flatMap(({ pages }) => pages);
  const titleOf = (name: string) => listed.find((page) => page.name === name)?.title ?? name;
  const write = once(() => writeApiPages(describe(options), titleOf));
  const read = (name: string) => () => write().get(name) ?? '';
  const tags = describeTags(toDiscoveryFacts(options).endpoints).map((tag) => `api/${tag.name}`);
  const names = ['api', ...tags, 'api/schemas'];
  const library: () => Library = createLibrary({
    folder: packagePath('docs'),
    baseUrl: config.PERCH_BASE_URL,
    navigation,
    written: Object.fromEntries(names.map((name) => [name, read(name)])),
    logger,
  });
  return library;
}

/** Returns the data that all HTML pages use: base URL, assets, and whether optional pages exist. */
export function toSite(
  { config, logger }: AppContext,
  { searchPlatform }: Pick<PlanContext, 'searchPlatform'>,
  hasAskPage: boolean,
): FrontSite {
  return {
    baseUrl: config.PERCH_BASE_URL,
    assets: createAssets(packagePath('assets'), logger),
    hasAskPage,
    searchPlatform,
    hasSample: config.PERCH_SAMPLE && config.PERCH_PROVIDERS.includes('archive'),
  };
}

type DocumentOptions = Readonly<{ config: Config; library: () => Library }>;

export function toDiscoveryFacts({ config, library }: DocumentOptions): DiscoveryFacts {
  return {
    baseUrl: config.PERCH_BASE_URL,
    version,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    endpoints: listEndpoints(config.PERCH_SESSIONS ? config.PERCH_SESSION_PREFIX : null, config),
    limits: toAllowanceLimits(config),
    contacts: { keys: config.PERCH_CONTACT_URL, security: config.PERCH_SECURITY_CONTACT },
    pages: () => library().pages,
  };
}

function describe(options: DocumentOptions) {
  const examples = readExamples(options.config.PERCH_BASE_URL);
  return describeOpenApi({ ...toDiscoveryFacts(options), nowMs: null, examples });
}

/** Returns the OpenAPI document that describes the operator's routes. */
export function describeAdmin({ PERCH_BASE_URL: baseUrl }: Config): JsonSchema {
  const examples = readExamples(baseUrl);
  return describeAdminApi({ baseUrl, version, endpoints: adminEndpoints, examples });
}

export function listDocuments(options: DocumentOptions & { clock: Clock }): readonly McpDocument[] {
  const facts = toDiscoveryFacts(options);
  const { baseUrl } = facts;
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
      read: cacheForTheDay((nowMs) => toJsonBody(describeForPrograms(facts, nowMs)), options.clock),
    },
    ...options.library().pages.map(({ name, title, read }) => ({
      uri: `${baseUrl}${discoveryPaths.docs}/${name}`,
      name: `docs/${name}`,
      title,
      mimeType: 'text/markdown',
      read,
    })),
  ];
}
