import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMediaTypes } from '../../lib/http/json-bodies.ts';
import type { Origins as PageOrigins } from '../../lib/http/origins.ts';
import { disableCompression } from '../../web/compression.ts';
import type { CorsPolicy } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseAll, serveRoutes } from '../../web/route.ts';
import { findSession, refuseWithoutBearer, type SessionRequest } from './calls.ts';
import { sessionRoutes } from './endpoints.ts';
import { type ProblemReplies, sendSessionProblem, toSessionHeaders } from './reply.ts';
import {
  cancel,
  checkHealth,
  checkSession,
  followUp,
  type Handle,
  type HandlerOptions,
  reset,
  sendStream,
  start,
} from './routes.ts';

export interface SessionsOptions extends HandlerOptions {
  /** Check that rejects requests from web pages whose `Origin` is not allowed. */
  readonly pages: Pick<PageOrigins, 'faultOf'>;
  readonly problems: ProblemReplies;
  /** Web origins whose pages may use the service; `*` for any. If empty, CORS is off. */
  readonly origins: readonly string[];
}

const sessionConfig = { decidesWhileDraining: true };

/** Registers the session service below the prefix of `app`, such as `/svc`. */
export async function sessionService(app: FastifyInstance, options: SessionsOptions) {
  const { origins, pages, problems } = options;
  app.decorateRequest('knownSession', null);
  disableCompression(app);
  app.setErrorHandler((error: Error, request, reply) =>
    sendSessionProblem(error, { request, reply }, problems),
  );
  app.addHook('onRequest', (request, _reply, done) => {
    done(pages.faultOf(request.headers) ?? undefined);
  });
  app.addHook('onSend', async (request, reply) => {
    reply.headers(toSessionHeaders(request));
  });
  readBytes(app);
  app.register(async (routes) => registerRoutes(routes, options), { prefix: '/v1' });
  for (const url of ['', '/*']) {
    refuseAll(app, url, { ...sessionConfig, cors: toSessionCors(origins, []) });
  }
}

function readBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async ({ headers }: FastifyRequest, body: Buffer) => {
    refuseOtherMediaTypes(headers, body.length > 0); // the length of a chunked body is not known before
    return body;
  };
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parse);
}

function registerRoutes(app: FastifyInstance, options: SessionsOptions): void {
  const { service } = options;
  const { bodyBytes: bodyLimit } = service.limits;
  const accept = async () => service.refuseUnlessReady();
  const identify = async (request: FastifyRequest) => {
    if (isEmptyId(request.params)) throw routeNotFound(request);
    refuseWithoutBearer(request, options);
  };
  const checkType = async ({ headers }: FastifyRequest) => refuseOtherMediaTypes(headers);
  const checkState = async (request: SessionRequest) => checkSession(request, options);
  const checkKnown = async (request: SessionRequest): Promise<void> => {
    await findSession(request, options);
  };
  type Before = (request: SessionRequest) => Promise<void>;
  const post = (onRequest: Before[], handle: Handle<SessionRequest>) => ({
    bodyLimit,
    onRequest,
    handler: (request: SessionRequest, reply: FastifyReply) => handle(request, reply, options),
  });
  const handlers = {
    getSessionHealth: {
      config: { isProbe: true },
      handler: (request: FastifyRequest, reply: FastifyReply) =>
        checkHealth(request, reply, options),
    },
    startSession: post([identify, accept, checkType], start),
    continueSession: post([identify, accept, checkState, checkType], followUp),
    streamSession: { ...post([identify, checkKnown], sendStream), head: null },
    cancelTurn: post([identify, checkType], cancel),
    resetSession: post([identify, checkType], reset),
  };
  serveRoutes(app, sessionRoutes, handlers, {
    configOf: (allow) => ({ ...sessionConfig, cors: toSessionCors(options.origins, allow) }),
    isRoute: ({ params }) => !isEmptyId(params),
  });
}

const isEmptyId = (params: unknown): boolean =>
  typeof params === 'object' && params !== null && Object.values(params).includes('');

const bothNamesOf = (name: string) => [`X-Eve-${name}`, `X-${name}`];
const streamHeaders = ['Stream-Version', 'Stream-Format', 'Stream-Tail-Index'];
const exposedHeaders = [
  ...bothNamesOf('Session-Id'),
  'X-Request-Id',
  ...streamHeaders.flatMap(bothNamesOf),
  'X-Accel-Buffering',
  'Location',
  'Retry-After',
];

const allowedHeaders = ['X-Continuation-Token', 'Authorization', 'Content-Type', 'Idempotency-Key'];

function toSessionCors(origins: readonly string[], methods: string[]): CorsPolicy | false {
  if (origins.length === 0) return false;
  const origin = origins.includes('*') ? '*' : [...origins];
  return { origin, methods, exposedHeaders, allowedHeaders };
}
