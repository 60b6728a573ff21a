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
import type { AccessLog } from '../routes/monitoring/access-log.ts';
import { assetsPlugin } from '../routes/pages/assets.ts';
import { docsPlugin } from '../routes/pages/docs/docs-plugin.ts';
import { frontPlugin } from '../routes/pages/front/front-plugin.ts';
import { feedRedirectsPlugin } from '../routes/reads/feed-redirects.ts';
import { historyRoutesPlugin } from '../routes/reads/history-routes.ts';
import { opmlPlugin } from '../routes/reads/opml-route.ts';
import { readRoutesPlugin } from '../routes/reads/read-routes.ts';
import { createPageAnswers } from './wiring/answers.ts';
import { listDocuments, openLibrary, toDiscoveryFacts } from './wiring/documents.ts';
import type { Fetching } from './wiring/fetching.ts';
import type { Access, Services } from './wiring/services.ts';

/** Everything that the plugins of routes take their options from. */
export type Surface = Omit<Fetching & Access, 'close'> &
  Services & { readonly accessLog: AccessLog };

/** Registers the read service: v1, permalinks, aliases, discovery, MCP, pages and media. */
export async function readSurface(app: FastifyInstance, surface: Surface): Promise<void> {
  const { config, clock, actor, sessions } = surface;
  const baseUrl = config.PERCH_BASE_URL;
  const origins = createOrigins(baseUrl, []);
  const library = openLibrary(config, surface.logger);
  const asking = sessions && createPageAnswers({ ...surface, ...sessions });
  const ask = asking && { ...surface, asking };
  app.register(discoveryPlugin, { ...toDiscoveryFacts({ config, library }), clock });
  if (actor !== null) app.register(actorPlugin, { actor, baseUrl });
  app.register(assetsPlugin, surface.site);
  app.register(docsPlugin, { ...surface, library, origins, ask });
  app.register(opmlPlugin, { baseUrl });
  app.register(feedRedirectsPlugin, { baseUrl });
  app.decorateRequest('identity', null);
  registerReads(app, surface);
  registerCopies(app, surface);
  app.register(async (keyed) => {
    setAllowances(keyed, surface.identification);
    keyed.register(mcpPlugin, {
      ...surface,
      version,
      documents: () => listDocuments({ config, clock, library }),
      origins: createOrigins(baseUrl, config.PERCH_MCP_ORIGINS),
    });
  });
}

function registerReads(app: FastifyInstance, surface: Surface): void {
  const { config } = surface;
  const reading = { ...surface, sharedCacheSeconds: config.PERCH_SHARED_CACHE_SECONDS };
  app.register(frontPlugin, { ...reading, origins: createOrigins(config.PERCH_BASE_URL, []) });
  app.register(readRoutesPlugin, {
    ...reading,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    browserPages: config.PERCH_BROWSER_PAGES,
    countHits: surface.traffic.countHits,
  });
  app.register(pictureProxyPlugin, surface);
  app.register(historyRoutesPlugin, surface);
}

function registerCopies(app: FastifyInstance, surface: Surface): void {
  const { PERCH_DATA_DIR: folder, PERCH_PROVIDERS: providers, PERCH_SAMPLE } = surface.config;
  const isServed = providers.includes('archive');
  const copies = createCopyReader({
    dataFolder: isServed && folder !== ':memory:' ? folder : null,
    sample: isServed && PERCH_SAMPLE,
  });
  app.addHook('onClose', async () => copies.close());
  app.register(copiesPlugin, { ...surface, copies });
}
