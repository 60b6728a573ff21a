import type { FastifyInstance } from 'fastify';
import { createCopyReader } from '../archive/media/copy-reader.ts';
import { createOrigins } from '../lib/http/origins.ts';
import { version } from '../lib/version.ts';
import { actorPlugin } from '../routes/discovery/actor-plugin.ts';
import { discoveryPlugin } from '../routes/discovery/documents.ts';
import { setAllowances } from '../routes/key-status/plugin.ts';
import { mcpPlugin } from '../routes/mcp/plugin.ts';
import { copiesPlugin } from '../routes/media/copies-plugin.ts';
import { pictureProxyPlugin } from '../routes/media/proxy-plugin.ts';
import { assetsPlugin } from '../routes/pages/assets.ts';
import { docsPlugin } from '../routes/pages/docs/docs-plugin.ts';
import { frontPlugin } from '../routes/pages/front/front-plugin.ts';
import { feedRedirectsPlugin } from '../routes/reads/feed-redirects.ts';
import { historyRoutesPlugin } from '../routes/reads/history-routes.ts';
import { opmlPlugin } from '../routes/reads/opml-route.ts';
import { type ReadingOptions, readRoutesPlugin } from '../routes/reads/read-routes.ts';
import type { AccessLog } from '../web/access-log.ts';
import { createPageAnswers } from './wiring/answers.ts';
import { listDocuments, openLibrary, toDiscoveryFacts } from './wiring/documents.ts';
import type { Services } from './wiring/services.ts';

export type Surface = Services & { readonly accessLog: AccessLog };

/** Registers the read service: v1, permalinks, aliases, discovery, MCP, pages and media. */
export async function readSurface(app: FastifyInstance, surface: Surface): Promise<void> {
  const { config, clock, access, identification, sessions, site, work, load, accessLog } = surface;
  const baseUrl = config.PERCH_BASE_URL;
  const { clientOf } = access;
  const library = openLibrary(config, surface.logger);
  const asking = sessions && createPageAnswers({ ...surface, ...sessions, clientOf });
  const ask = asking && { asking, work, load, accessLog };
  app.register(discoveryPlugin, { ...toDiscoveryFacts({ config, library }), clock });
  const { actor } = surface.fetching;
  if (actor !== null) app.register(actorPlugin, { actor, baseUrl });
  app.register(assetsPlugin, { assets: site.assets });
  app.register(docsPlugin, { site, library, origins: createOrigins(baseUrl, []), ask });
  app.register(opmlPlugin, { baseUrl });
  app.register(feedRedirectsPlugin, { baseUrl });
  registerCopies(app, surface);
  app.decorateRequest('identity', null);
  registerReads(app, surface);
  app.register(async (keyed) => {
    setAllowances(keyed, identification);
    keyed.register(mcpPlugin, {
      ...toReadingOptions(surface),
      version,
      documents: () => listDocuments({ config, clock, library }),
      origins: createOrigins(baseUrl, config.PERCH_MCP_ORIGINS),
      quotas: access.quotas,
    });
  });
}

function toReadingOptions(surface: Surface): ReadingOptions {
  const { config, identification, fetching, heavyTurns, work, load, accessLog } = surface;
  const { reader, context } = fetching;
  const sharedCacheSeconds = config.PERCH_SHARED_CACHE_SECONDS;
  const watched = { work, load, accessLog, identification };
  return { ...watched, reader, context, heavyTurns, sharedCacheSeconds };
}

function registerReads(app: FastifyInstance, surface: Surface): void {
  const { config, clock, access, fetching, site, traffic } = surface;
  const { importer, pictures } = fetching;
  const reading = toReadingOptions(surface);
  app.register(frontPlugin, {
    ...reading,
    site,
    origins: createOrigins(config.PERCH_BASE_URL, []),
  });
  app.register(readRoutesPlugin, {
    ...reading,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    browserPages: config.PERCH_BROWSER_PAGES,
    countHits: traffic.countHits,
  });
  const { quotas } = access;
  app.register(pictureProxyPlugin, { ...reading, quotas, clock, pictures });
  app.register(historyRoutesPlugin, { ...reading, importer, quotas });
}

function registerCopies(app: FastifyInstance, { config, access, identification }: Surface): void {
  const { PERCH_DATA_DIR: folder, PERCH_PROVIDERS: providers } = config;
  const isServed = providers.includes('archive');
  const copies = createCopyReader({
    dataFolder: isServed && folder !== ':memory:' ? folder : null,
    sample: isServed && config.PERCH_SAMPLE,
  });
  app.addHook('onClose', async () => copies.close());
  const { quotas } = access;
  app.register(copiesPlugin, { copies, quotas, clientOf: identification.clientOf });
}
