import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { once } from '../../lib/once.ts';
import { disableCors } from '../cors.ts';
import { routeNotFound } from '../problems.ts';
import { sendPrepared } from '../reply.ts';
import { serveRoutes } from '../route.ts';
import { assetRoutes } from './endpoints.ts';
import { assetPath, prepareBody } from './layout.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export type Assets = ReturnType<typeof createAssets>;

/** Creates an asset store for a folder, which it reads at the first request. */
export function createAssets(folder: string, logger: FastifyBaseLogger) {
  const all = once(() => readAssets(folder, logger));
  return {
    /** Returns the URL path of an asset; the file name contains a hash of the content. */
    pathOf: (name: string) => `${assetPath}${all().get(name)?.hashedName ?? name}`,
    find: (fileName: string) => {
      const asset = all().get(fileName.replace(/\.[\w-]{10}(?=\.\w+$)/, ''));
      // Pages of other releases may still link to a name without a hash or with another hash.
      return asset?.hashedName === fileName ? asset.lasting : asset?.passing;
    },
  };
}

function readAssets(folder: string, logger: FastifyBaseLogger) {
  try {
    const names = readdirSync(folder).filter((name) => extname(name) in mediaTypes);
    return new Map(names.map((name) => [name, toAsset(name, readFileSync(join(folder, name)))]));
  } catch (error) {
    logger.error({ err: error }, 'The assets of the pages cannot be read.');
    return new Map<string, ReturnType<typeof toAsset>>();
  }
}

function toAsset(name: string, body: Buffer) {
  const extension = extname(name);
  const prepare = (caching: string) =>
    prepareBody(body, { 'content-type': mediaTypes[extension] ?? '', 'cache-control': caching });
  const lasting = prepare('public, max-age=31536000, immutable');
  const hash = lasting.headers.etag.slice(1, 11);
  return {
    hashedName: `${name.slice(0, -extension.length)}.${hash}${extension}`,
    lasting,
    passing: prepare('public, max-age=60'),
  };
}

/** Registers the asset routes. Pages of other origins can embed assets but not read them. */
export async function assetsPlugin(app: FastifyInstance, { assets }: { readonly assets: Assets }) {
  disableCors(app);
  const send = (name: string, reply: FastifyReply) => {
    const found = assets.find(name);
    if (found === undefined) throw routeNotFound(reply.request);
    return sendPrepared(reply, found);
  };
  type Asked = FastifyRequest<{ Params: { readonly file: string } }>;
  serveRoutes(app, assetRoutes, {
    getAsset: (request: Asked, reply) => send(request.params.file, reply),
    // Browsers request this path for documents without an icon, such as Markdown.
    getFavicon: (_request, reply) => send('favicon.svg', reply),
  });
}
