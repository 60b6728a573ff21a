import { detectMediaType, mediaHeadBytes } from '../files/media-type.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  HttpFailure,
  headerText,
  type RequestContext,
  readHead,
  toBodyFailure,
  type UnreadResponse,
} from './http-client.ts';
import { openPublicClient } from './public-http-client.ts';
import { type PublicHttpOptions, publicNetwork } from './public-network.ts';

/** Content of a picture, and the media type that was detected from the content. */
export interface PictureBytes {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface PictureAnswer {
  readonly status: number;
  /** Value of `Retry-After` in seconds; `undefined` if absent or invalid. */
  readonly retryAfterSeconds: number | undefined;
  /** Picture; `null` unless the status is 200 and it is plain JPEG, PNG, GIF, WebP or AVIF. */
  readonly picture: PictureBytes | null;
}

export type PictureClient = HttpClient<PictureAnswer>;

/** Opens a client like `openPublicHttpClient`; pictures over `maxBytes` fail with `too_large`. */
export function openPictureClient(
  options: HttpClientOptions,
  network: PublicHttpOptions = publicNetwork,
): PictureClient {
  const accept = 'image/avif,image/webp,image/png,image/jpeg,image/gif';
  return openPublicClient(options, network, { accept, read: readPicture });
}

async function readPicture(
  response: UnreadResponse,
  { takeBytes }: RequestContext,
  { clock, maxBytes }: HttpClientOptions,
): Promise<PictureAnswer> {
  const { status, retryAfterSeconds } = readHead(response, clock.now());
  const none: PictureAnswer = { status, retryAfterSeconds, picture: null };
  // A compressed picture could be many times larger than its compressed form.
  const encoding = headerText(response.headers['content-encoding']) ?? 'identity';
  if (status !== 200 || encoding !== 'identity') {
    await response.body.dump();
    return none;
  }
  if (Number(headerText(response.headers['content-length'])) > maxBytes) {
    response.body.on('error', () => {}).destroy();
    throw tooLarge();
  }
  const picture = await readBytes(response, maxBytes, takeBytes ?? (() => {}));
  return { ...none, picture };
}

async function readBytes(
  { body }: UnreadResponse,
  maxBytes: number,
  takeBytes: (count: number) => void,
): Promise<PictureBytes | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  let mediaType: string | null = null;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      takeBytes(chunk.length);
      chunks.push(chunk);
      if (mediaType !== null || size < mediaHeadBytes) continue;
      mediaType = detectPictureType(chunks);
      if (mediaType === null) return null;
    }
  } catch (error) {
    throw toBodyFailure(error);
  }
  mediaType ??= detectPictureType(chunks);
  return mediaType === null ? null : { mediaType, bytes: Buffer.concat(chunks, size) };
}

function detectPictureType(chunks: readonly Buffer[]): string | null {
  const mediaType = detectMediaType(Buffer.concat(chunks).subarray(0, mediaHeadBytes));
  return mediaType?.startsWith('image/') === true ? mediaType : null;
}

const tooLarge = () => new HttpFailure('too_large', 'The picture is too large.');
