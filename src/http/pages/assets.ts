import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { sendNoCors } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import {
  nothingOfItsOwn,
  type PreparedReply,
  prepareReply,
  sendPrepared,
} from '../../web/reply.ts';
import { toEtag } from './page-headers.ts';
import { assetPath } from './paths.ts';

/** The media types of what `assets/` may hold, by ending; other files are not served. */
const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files that pages load: styles, scripts, pictures. */
export interface Assets {
  /** Gives the path of an asset, with the hash of its content in its name; it changes when the file does. */
  pathOf(name: string): string;
  /** Gives the reply for the last segment of such a path; undefined where there is no such file. */
  find(fileName: string): PreparedReply | undefined;
}

interface Asset {
  readonly hashedName: string;
  /** For the name that tells of this very content. */
  readonly lasting: PreparedReply;
  /** For the name alone, or with another hash: pages of another release name it so for a while. */
  readonly passing: PreparedReply;
}

/** Creates the assets of a folder. It is read when the first of them is asked for, and then kept. */
export function createAssets(folder: string, logger: FastifyBaseLogger): Assets {
  let kept: ReadonlyMap<string, Asset> | undefined;
  const all = () => {
    kept ??= readAssets(folder, logger);
    return kept;
  };
  return {
    pathOf: (name) => `${assetPath}${all().get(name)?.hashedName ?? name}`,
    find: (fileName) => {
      const asset = all().get(fileName.replace(/\.[\w-]{10}(?=\.\w+$)/, ''));
      return asset?.hashedName === fileName ? asset.lasting : asset?.passing;
    },
  };
}

/** Pages are readable without them, so a folder that is missing is told and no more. */
function readAssets(folder: string, logger: FastifyBaseLogger): ReadonlyMap<string, Asset> {
  try {
    const names = readdirSync(folder).filter((name) => extname(name) in mediaTypes);
    return new Map(names.map((name) => [name, toAsset(name, readFileSync(join(folder, name)))]));
  } catch (error) {
    logger.error({ err: error }, 'assets of pages cannot be read');
    return new Map();
  }
}

function toAsset(name: string, body: Buffer): Asset {
  const ending = extname(name);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 10);
  const headers = {
    'content-type': mediaTypes[ending] ?? '',
    'content-length': String(body.length),
    etag: toEtag(body),
  };
  const prepare = (caching: string) => prepareReply({ ...headers, 'cache-control': caching }, body);
  return {
    hashedName: `${name.slice(0, -ending.length)}.${hash}${ending}`,
    lasting: prepare('public, max-age=31536000, immutable'),
    passing: prepare('public, max-age=60'),
  };
}

/** Registers the route of the assets, which the pages of other origins may show but not read. */
export async function assetsPlugin(app: FastifyInstance, { assets }: { readonly assets: Assets }) {
  const url = `${assetPath}:file`;
  sendNoCors(app);
  app.get<{ Params: { file: string } }>(url, (request, reply) => {
    const found = assets.find(request.params.file);
    if (found === undefined) throw routeNotFound(request);
    sendPrepared({ request, reply }, found, nothingOfItsOwn);
  });
  refuseOtherMethods(app, url, { allow: ['GET', 'HEAD'] });
}
