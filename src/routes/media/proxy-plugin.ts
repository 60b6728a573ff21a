import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  mediaPath,
  type PictureAddress,
  type PictureAddresses,
} from '../../fetching/media/picture-address.ts';
import type { Picture, PictureFacts } from '../../fetching/media/picture-store.ts';
import type { Pictures } from '../../fetching/media/pictures.ts';
import type { Clock } from '../../lib/clock.ts';
import { matchesEtag } from '../../lib/http/accept.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { toNotModifiedHeaders } from '../headers.ts';
import {
  type Identification,
  identityOf,
  refuseRead,
  setAllowances,
} from '../key-status/plugin.ts';
import type { AccessLog } from '../monitoring/access-log.ts';
import type { Load, Work } from '../monitoring/load.ts';
import { listEndpointHeaders } from '../openapi/headers.ts';
import { routeNotFound } from '../problems.ts';
import { upstreamProblems } from '../reads/address-route.ts';
import { prepareReply, sendPrepared } from '../reply.ts';
import { declareRoutes, serveRoutes } from '../route.ts';
import { sendFile } from './send-file.ts';

type AddressedPictures = Pick<Pictures, 'find' | 'get'> & Pick<PictureAddresses, 'parse'>;

export interface PictureProxyOptions {
  /** `null` without a proxy (`PERCH_MEDIA=direct` or `off`): requests get 404 `route_not_found`. */
  readonly pictures: AddressedPictures | null;
  readonly identification: Identification;
  readonly quotas: Quotas;
  readonly clock: Clock;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/** Maximum age in seconds of a picture in browsers and shared caches. */
const maxAgeSeconds = 86_400;

/** Registers the route that serves pictures from other hosts, only at addresses signed here. */
export async function pictureProxyPlugin(app: FastifyInstance, options: PictureProxyOptions) {
  const { pictures, load, accessLog } = options;
  if (pictures === null) {
    const getPicture = (request: FastifyRequest) => {
      throw routeNotFound(request);
    };
    return serveRoutes(app, pictureRoutes, { getPicture });
  }
  setAllowances(app, options.identification);
  const config = { allowance: 'media' } as const;
  type Asked = FastifyRequest<{ Params: { signed: string } }>;
  const answer = async (request: Asked, reply: FastifyReply) => {
    refuseRead(request, load);
    const address = pictures.parse(request.params.signed);
    await sendPicture({ request, reply }, address, { ...options, pictures });
    accessLog.logIfNotable(request, reply, reply.statusCode);
    return reply;
  };
  serveRoutes(app, pictureRoutes, { getPicture: answer }, { config });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type SendingOptions = PictureProxyOptions & { readonly pictures: AddressedPictures };

async function sendPicture(
  { request, reply }: Exchange,
  address: PictureAddress,
  options: SendingOptions,
): Promise<FastifyReply> {
  const { pictures, identification, clock, work } = options;
  const describe = (facts: PictureFacts) => toHeaders(facts, address, clock.now());
  const found = await pictures.find(address.url);
  if (found !== null) {
    const headers = describe(found);
    if (matchesEtag(request.headers['if-none-match'], headers.etag)) {
      return reply.code(304).headers(toNotModifiedHeaders(headers)).send();
    }
    if (request.method === 'HEAD') return reply.headers(headers).send();
  }
  const client = identification.clientOf(request);
  const { signal, span } = request;
  const { caller } = identityOf(request);
  const picture = await work.track(pictures.get(address.url, { caller, client, signal, span }));
  return sendContent(reply, picture, { ...options, headers: describe(picture) });
}

type ContentOptions = SendingOptions & { readonly headers: ReturnType<typeof toHeaders> };

async function sendContent(
  reply: FastifyReply,
  { content, size }: Picture,
  options: ContentOptions,
): Promise<FastifyReply> {
  if (Buffer.isBuffer(content)) return sendPrepared(reply, prepareReply(options.headers, content));
  return sendFile(reply, content, { ...options, range: null, bytes: size });
}

function toHeaders(
  { mediaType, size, hash }: PictureFacts,
  { expiresMs }: PictureAddress,
  nowMs: number,
) {
  const validSeconds = Math.floor((expiresMs - nowMs) / 1000);
  return {
    etag: `"${hash}"`,
    'content-type': mediaType,
    'content-length': String(size),
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

export const pictureRoutes = declareRoutes(
  { method: 'GET', tag: 'media', access: 'open' },
  {
    getPicture: {
      path: `${mediaPath}{signed}`,
      url: `${mediaPath}:signed(^[\\w-]{32,4096}$)`,
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
    },
  },
);
