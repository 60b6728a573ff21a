import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';
import {
  mediaPath,
  type PictureAddress,
  type PictureAddresses,
} from '../../fetching/media/picture-address.ts';
import type { Picture } from '../../fetching/media/picture-store.ts';
import type { Pictures } from '../../fetching/media/pictures.ts';
import type { AccessLog } from '../../web/access-log.ts';
import { corsHeaders } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { prepareReply, releaseAtEnd, sendPrepared } from '../../web/reply.ts';
import { overloadedByReplies } from '../admission/connections.ts';
import { type Identification, identityOf, refuseRead } from '../key-status/plugin.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import type { Load, Work } from '../operations/load.ts';
import { upstreamProblems } from '../reads/address-route.ts';

/** Functions that verify a signed picture address and fetch the picture at the address. */
type AddressedPictures = Pick<Pictures, 'get'> & Pick<PictureAddresses, 'parse'>;

/** Options of the route that serves pictures from other hosts. */
export interface PictureProxyOptions {
  /**
   * Functions that verify picture addresses and fetch pictures; `null` without a proxy
   * (`PERCH_MEDIA=direct` or `off`). If `null`, all requests for pictures get 404 `route_not_found`.
   */
  readonly pictures: AddressedPictures | null;
  readonly identification: Identification;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/**
 * Fastify route pattern of a picture. The last segment has 32 or more characters, so that shorter
 * paths such as `/media/followers` belong to the account with the handle `media`.
 */
const picturePath = `${mediaPath}:signed(^[\\w-]{32,4096}$)`;

/** Maximum time in seconds for which browsers and shared caches may reuse a picture without asking the server. */
const maxAgeSeconds = 86_400;

/**
 * Registers the route that serves pictures from other hosts. The route accepts only addresses that
 * this server has signed.
 */
export async function pictureProxyPlugin(app: FastifyInstance, options: PictureProxyOptions) {
  const { pictures, load } = options;
  if (pictures === null) {
    app.get(picturePath, (request) => {
      throw routeNotFound(request);
    });
    app.methodTable.add(picturePath, { allow: ['GET', 'HEAD'] });
    return;
  }
  const config = { allowance: 'media' } as const;
  app.get<{ Params: { signed: string } }>(picturePath, { config }, async (request, reply) => {
    refuseRead(request, load);
    const address = pictures.parse(request.params.signed);
    await sendPicture({ request, reply }, address, { ...options, pictures });
    return reply;
  });
  app.methodTable.add(picturePath, { allow: ['GET', 'HEAD'], config });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type SendingOptions = PictureProxyOptions & { readonly pictures: AddressedPictures };

/**
 * Sends a picture. Until the reply is complete, the size of the picture counts toward the limits on reply bytes that
 * clients have not read yet (per client and in total).
 */
async function sendPicture(
  { request, reply }: Exchange,
  address: PictureAddress,
  { pictures, identification, ledger, clock, work, accessLog }: SendingOptions,
): Promise<void> {
  const client = identification.clientOf(request);
  const hold = ledger.open('replyBytes', client);
  const { signal, span } = request;
  const reserve = (bytes: number) => {
    if (!hold.take(bytes)) throw overloadedByReplies();
  };
  try {
    const { caller } = identityOf(request);
    const picture = await work.track(
      pictures.get(address.url, { caller, client, signal, span, reserve }),
    );
    const prepared = prepareReply(toHeaders(picture, address, clock.now()), picture.bytes);
    releaseAtEnd(reply, hold.release);
    const headers = identityOf(request).headers();
    sendPrepared({ request, reply }, prepared, { isPrivate: false, headers, link: null });
    accessLog.logIfNotable(request, reply, 200);
  } catch (error) {
    hold.release();
    throw error;
  }
}

function toHeaders(
  { mediaType, bytes, hash }: Picture,
  { expiresMs }: PictureAddress,
  nowMs: number,
) {
  const validSeconds = Math.floor((expiresMs - nowMs) / 1000);
  return {
    ...corsHeaders,
    etag: `"${hash}"`,
    'content-type': mediaType,
    'content-length': String(bytes.length),
    'cache-control': `public, max-age=${Math.min(maxAgeSeconds, validSeconds)}, immutable`,
    // A browser that opens the address as a page runs nothing, whatever the bytes contain.
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  };
}

const replyHeaders = {
  ...listEndpointHeaders(['ETag']),
  'Content-Security-Policy': { description: "`default-src 'none'; sandbox`." },
  'Cross-Origin-Resource-Policy': { description: '`cross-origin`.' },
};

export const pictureEndpoints: readonly Endpoint[] = [
  {
    id: 'getPicture',
    method: 'GET',
    path: `${mediaPath}{signed}`,
    tag: 'media',
    title: 'Get a picture of a post',
    summary: 'Returns a picture that this server fetches from another host, or has in its cache.',
    description:
      'The web pages, feeds and oEmbed documents of a server with `PERCH_MEDIA=proxy` contain the addresses of pictures. With another value, the response is 404 `route_not_found`. The server determines the media type from the content of the picture, and ignores the header `Range`.',
    parameters: {
      path: z.object({
        signed: z
          .string()
          .describe('URL of the picture, with an expiry and a signature of this server.'),
      }),
    },
    headers: listEndpointHeaders(['RateLimit-Policy', 'RateLimit', 'Vary'], { isOptional: true }),
    replies: [
      {
        status: 200,
        description: 'The picture.',
        content: {
          'image/jpeg': 'binary',
          'image/png': 'binary',
          'image/gif': 'binary',
          'image/webp': 'binary',
          'image/avif': 'binary',
        },
        headers: replyHeaders,
      },
      { status: 304, description: 'The caller’s copy is still current.', headers: replyHeaders },
    ],
    problems: [
      'invalid_picture_address',
      'expired_picture_address',
      'picture_not_found',
      'route_not_found',
      'rate_limited',
      ...upstreamProblems,
    ],
    access: 'open',
  },
];
