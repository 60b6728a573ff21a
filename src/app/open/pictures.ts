import { copiesPath } from '../../archive/media/media-links.ts';
import { pictureFolder } from '../../core/files/data-folder.ts';
import type { HttpClientOptions } from '../../core/http/http-client.ts';
import { openPictureClient } from '../../core/http/picture-client.ts';
import { createPictureAddresses } from '../../fetching/media/picture-address.ts';
import { createPictureStore } from '../../fetching/media/picture-store.ts';
import { createPictures } from '../../fetching/media/pictures.ts';
import type { AppBasics, AppOptions } from '../options.ts';

interface PicturesOptions extends AppBasics, Pick<AppOptions, 'network'> {
  /** Secret with which Perch signs cursors. Perch derives the key for signing URLs of pictures from this secret. */
  readonly secret: Buffer;
  readonly limits: HttpClientOptions;
  /** Signal that is aborted when the server stops. */
  readonly stop: AbortSignal;
}

/** Minimum time in milliseconds between two log lines about failures of the picture cache. */
const logIntervalMs = 600_000;

/**
 * Creates the picture proxy. In the returned object, `context.toPictureUrl` signs the URL of a picture, and
 * `pictures` fetches pictures. The member `pictures` is `null` if the proxy is off (`PERCH_MEDIA=off`). The proxy
 * opens no file and no connection before the first request for a picture.
 */
export function openPictures({ config, clock, random, logger, ...options }: PicturesOptions) {
  const { PERCH_BASE_URL: baseUrl, PERCH_DATA_DIR: folder } = config;
  if (config.PERCH_MEDIA === 'off') {
    // Archived media files need no request to another host.
    const toPictureUrl = (url: string) => (url.startsWith(`${baseUrl}${copiesPath}`) ? url : null);
    return { pictures: null, context: { toPictureUrl }, close: async () => {} };
  }
  const { limits, network, stop, secret } = options;
  const timeoutMs = config.PERCH_READ_TIMEOUT_MS;
  const maxBytes = Math.min(config.PERCH_MEDIA_MAX_BYTES, config.PERCH_REPLY_BYTES_PER_ADDRESS);
  let loggedMs = Number.NEGATIVE_INFINITY;
  const onFailure = (err: unknown) => {
    if (clock.now() - loggedMs < logIntervalMs) return;
    loggedMs = clock.now();
    logger.warn({ err }, 'the cache of pictures cannot be used');
  };
  const store = createPictureStore({
    folder: folder === ':memory:' ? null : `${folder}/${pictureFolder}`,
    maxBytes: config.PERCH_MEDIA_CACHE_BYTES,
    clock,
    random,
    onFailure,
  });
  const http = openPictureClient({ ...limits, attemptTimeoutMs: timeoutMs, maxBytes }, network);
  const fetched = createPictures({ http, store, clock, maxBytes, timeoutMs, stop });
  const { toPictureUrl, parse } = createPictureAddresses({ secret, baseUrl, clock });
  return {
    pictures: { get: fetched.get, parse },
    context: { toPictureUrl },
    close: fetched.close,
  };
}
