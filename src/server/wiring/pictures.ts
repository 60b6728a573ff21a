import { copiesPath } from '../../archive/media/media-rows.ts';
import { createPictureAddresses } from '../../fetching/media/picture-address.ts';
import { createPictureStore } from '../../fetching/media/picture-store.ts';
import { createPictures } from '../../fetching/media/pictures.ts';
import { pictureFolder } from '../../lib/files/data-folder.ts';
import type { HttpClientOptions } from '../../lib/http/http-client.ts';
import { openPictureClient } from '../../lib/http/picture-client.ts';
import { isPublicUrl } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { toPictureBytes } from './bounds.ts';

interface PicturesOptions extends AppContext, Pick<AppOptions, 'network'> {
  /** Secret for signing cursors, from which the key for picture URLs is derived. */
  readonly secret: Buffer;
  readonly limits: HttpClientOptions;
  readonly stop: AbortSignal;
  readonly ledger: Quotas;
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
  const { limits, network, stop, secret, ledger } = options;
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
  const fetched = createPictures({ http, store, clock, ledger, timeoutMs, stop });
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
