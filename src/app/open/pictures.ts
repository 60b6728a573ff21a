import { pictureFolder } from '../../core/files/data-folder.ts';
import type { HttpClientOptions } from '../../core/http/http-client.ts';
import { openPictureClient } from '../../core/http/picture-client.ts';
import { createPictureAddresses } from '../../fetching/media/picture-address.ts';
import { createPictureStore } from '../../fetching/media/picture-store.ts';
import { createPictures } from '../../fetching/media/pictures.ts';
import type { AppBasics, AppOptions } from '../options.ts';

interface PicturesOptions extends AppBasics, Pick<AppOptions, 'network'> {
  /** Secret that signs cursors. */
  readonly secret: Buffer;
  readonly limits: HttpClientOptions;
  /** Aborted when the server stops. */
  readonly stop: AbortSignal;
}

/** Minimum time in milliseconds between two log lines about the cache of pictures. */
const logIntervalMs = 600_000;

/**
 * Creates the signed addresses of pictures, and the cache and fetcher of pictures. The fetcher is `null` if pictures
 * are off. No file or connection is opened before the first request for a picture.
 */
export function openPictures({ config, clock, random, logger, ...options }: PicturesOptions) {
  const { PERCH_BASE_URL: baseUrl, PERCH_DATA_DIR: folder } = config;
  const addresses = createPictureAddresses({ secret: options.secret, baseUrl, clock });
  if (config.PERCH_MEDIA === 'off') return { addresses, pictures: null };
  const { limits, network, stop } = options;
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
  return { addresses, pictures: createPictures({ http, store, clock, maxBytes, timeoutMs, stop }) };
}
