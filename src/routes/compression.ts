import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { type Coding, createCodingChoice, isCompressible } from '../lib/http/accept.ts';
import { toOwnBuffer } from '../render/formats.ts';
import { varyByCoding } from './headers.ts';

export interface Compression {
  /** Returns the coding that an `Accept-Encoding` header prefers; `null` for none. */
  readonly choose: (accepted: string | undefined) => Coding | null;
  /** Compresses a body in Node's thread pool. Returns `null` if too many are in progress. */
  readonly compress: (body: Buffer, coding: Coding) => Promise<Buffer | null>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether replies of the route may be compressed. Default: `true`. */
    isCompressed?: boolean;
  }

  interface FastifyInstance {
    compression: Compression;
  }
}

const maxOpen = 32;

const compressors = {
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 5 }),
  br: (body: Buffer) =>
    promisify(brotliCompress)(body, {
      params: {
        // Higher levels take several times as long for a few percent.
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
} as const satisfies Record<Coding, (body: Buffer) => Promise<Buffer>>;

export function createCompression(): Compression {
  let open = 0;
  return {
    choose: createCodingChoice(),
    compress: async (body, coding) => {
      if (open >= maxOpen) return null;
      open += 1;
      try {
        return toOwnBuffer(await compressors[coding](body));
      } finally {
        open -= 1;
      }
    },
  };
}

/** Compresses text of more than 1 KiB with `app.compression`, which `sendPrepared` uses too. */
export function setCompression(app: FastifyInstance): void {
  const { compression } = app;
  app.addHook('onSend', (request, reply, payload, done) => {
    // A strong `ETag` names the bytes of a body: `sendPrepared` has chosen them.
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!isText || reply.hasHeader('etag')) return done(null, payload);
    const body = Buffer.from(payload);
    const mediaType = reply.getHeader('content-type')?.toString();
    const isOff = request.routeOptions.config.isCompressed === false;
    if (isOff || !isCompressible(mediaType, body.length)) return done(null, payload);
    reply.header('vary', varyByCoding(reply.getHeader('vary')));
    const coding = compression.choose(request.headers['accept-encoding']);
    if (coding === null) return done(null, payload);
    compression.compress(body, coding).then((compressed) => {
      if (compressed === null) return done(null, payload);
      reply.header('content-encoding', coding).removeHeader('content-length');
      done(null, compressed);
    }, done);
  });
}

/** Disables compression, because a size can reveal a secret beside a caller's input. */
export function disableCompression(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isCompressed: false };
  });
}
