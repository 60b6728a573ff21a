import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { copiesPath } from '../../archive/media/media-rows.ts';
import { createPictureAddresses } from '../../fetching/media/picture-address.ts';
import { createPictureStore } from '../../fetching/media/picture-store.ts';
import { createPictures } from '../../fetching/media/pictures.ts';
import { pictureFolder } from '../../lib/files/data-folder.ts';
import { packagePath } from '../../lib/files/package-path.ts';
import type { HttpClientOptions } from '../../lib/http/http-client.ts';
import { openPictureClient } from '../../lib/http/picture-client.ts';
import { isPublicUrl } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import type { PageAssets, RenderContext } from '../../render/context.ts';
import { createPageUrls } from '../../routes/pages/own-links.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { toPictureBytes } from './bounds.ts';

interface PicturesOptions extends AppContext, Pick<AppOptions, 'network'> {
  /** Secret for signing cursors, from which the key for picture URLs is derived. */
  readonly secret: Buffer;
  readonly limits: HttpClientOptions;
  readonly stop: AbortSignal;
  readonly quotas: Quotas;
}

/** Creates the proxy, opened at first use. `pictures` is `null` unless `PERCH_MEDIA` is `proxy`. */
export function openPictures({ config, clock, random, logger, ...options }: PicturesOptions) {
  const { PERCH_BASE_URL: baseUrl, PERCH_DATA_DIR: folder } = config;
  if (config.PERCH_MEDIA !== 'proxy') {
    const isDirect = config.PERCH_MEDIA === 'direct';
    const context = {
      toPictureUrl: createToOriginal(baseUrl, isDirect),
      hasDirectPictures: isDirect,
    };
    return { pictures: null, context, close: async () => {} };
  }
  const { limits, network, stop, secret, quotas } = options;
  const timeoutMs = config.PERCH_READ_TIMEOUT_MS;
  const maxBytes = toPictureBytes(config);
  const repeated = createRepeatedLines(clock);
  const onFailure = (err: unknown) =>
    repeated('cache', (count) =>
      logger.warn({ err, ...count }, 'the cache of pictures cannot be used'),
    );
  const store = createPictureStore({
    folder: folder === ':memory:' ? null : `${folder}/${pictureFolder}`,
    maxBytes: config.PERCH_MEDIA_CACHE_BYTES,
    clock,
    random,
    onFailure,
  });
  const http = openPictureClient({ ...limits, attemptTimeoutMs: timeoutMs, maxBytes }, network);
  const fetched = createPictures({ http, store, clock, quotas, timeoutMs, stop });
  const { toPictureUrl, parse } = createPictureAddresses({ secret, baseUrl, clock });
  return {
    pictures: { find: fetched.find, get: fetched.get, parse },
    context: { toPictureUrl, hasDirectPictures: false },
    close: fetched.close,
  };
}

const createToOriginal = (baseUrl: string, isDirect: boolean) => (given: string) => {
  if (given.startsWith(`${baseUrl}${copiesPath}`)) return given;
  const url = isDirect ? parseUrl(given) : null;
  return url !== null && isPublicUrl(url) ? url.href : null;
};

type RenderPages = Pick<RenderContext, 'toOwnPage' | 'pageAssets'>;

export function toPageContext({ config, logger }: AppContext): RenderPages {
  const pageAssets = readPageAssets(logger);
  const addresses = {
    baseUrl: config.PERCH_BASE_URL,
    xMirrors: config.PERCH_X_MIRRORS,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
  };
  return { toOwnPage: createPageUrls(addresses), ...(pageAssets && { pageAssets }) };
}

const styleSheets = ['theme.css', 'site.css', 'post.css', 'lists.css', 'page.css'];

/** Reads style sheets, script and icon. If that fails, logs the error and returns `undefined`. */
export function readPageAssets(logger: FastifyBaseLogger): PageAssets | undefined {
  const read = (name: string) => readFileSync(packagePath(`assets/${name}`), 'utf8');
  try {
    const styles = styleSheets.map((name) => compact(read(name))).join('\n');
    const icon = Buffer.from(read('favicon.svg')).toString('base64');
    const text = read('thread.js');
    return {
      styles,
      stylesHash: hash(styles),
      threadScript: { text, hash: hash(text) },
      iconUrl: `data:image/svg+xml;base64,${icon}`,
    };
  } catch (error) {
    logger.error({ err: error }, 'The styles and the script of the pages cannot be read.');
    return undefined;
  }
}

const hash = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

function compact(css: string): string {
  const parts = css.split('*/').map((part) => part.split('/*', 1)[0]);
  const lines = parts.join('').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
