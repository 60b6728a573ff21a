import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseOtherMediaTypes } from '../../core/http/json-bodies.ts';
import type { Origins as PageOrigins } from '../../core/http/origins.ts';
import { disableCompression } from '../../web/compression.ts';
import type { CorsPolicy } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import { findSession, type OneSession, refuseWithoutBearer, type SessionRequest } from './calls.ts';
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
  /** First path segment of the session routes, such as `svc`. */
  readonly segment: string;
  /** Check that rejects requests from web pages whose `Origin` is not allowed. */
  readonly pages: Pick<PageOrigins, 'faultOf'>;
  readonly problems: ProblemReplies;
  /** Web origins whose pages may use the service; `*` for any. If empty, CORS is off. */
  readonly origins: readonly string[];
}

const sessionConfig = { decidesWhileDraining: true };

export async function sessionsPlugin(app: FastifyInstance, options: SessionsOptions) {
  const { origins, pages, problems, segment } = options;
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
  registerRoutes(app, options);
  for (const url of [`/${segment}`, `/${segment}/*`]) {
    const handler = async (request: FastifyRequest) => {
      throw routeNotFound(request);
    };
    const config = { ...sessionConfig, cors: toSessionCors(origins, []) };
    app.route({ method: [...app.supportedMethods], url, config, onRequest: handler, handler });
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
  const { base, service } = options;
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
  const answering = (url: string, ...allow: string[]) => {
    const config = { ...sessionConfig, cors: toSessionCors(options.origins, allow) };
    const isRoute = ({ params }: FastifyRequest) => !isEmptyId(params);
    refuseOtherMethods(app, url, { allow, isRoute, config });
    return config;
  };
  type Before = (request: SessionRequest) => Promise<void>;
  const post = (url: string, onRequest: Before[], handle: Handle<SessionRequest>) => {
    const route = { config: answering(url, 'POST'), bodyLimit, onRequest };
    app.post<OneSession>(url, route, (request, reply) => handle(request, reply, options));
  };
  const health = `${base}/health`;
  const probe = { config: { ...answering(health, 'GET', 'HEAD'), isProbe: true } };
  app.get(health, probe, (request, reply) => checkHealth(request, reply, options));
  const one = `${base}/session/:sessionId`;
  post(`${base}/session`, [identify, accept, checkType], start);
  post(one, [identify, accept, checkState, checkType], followUp);
  const stream = `${one}/stream`;
  const onRequest = [identify, checkKnown];
  const config = answering(stream, 'GET');
  app.get<OneSession>(stream, { config, exposeHeadRoute: false, onRequest }, (request, reply) =>
    sendStream(request, reply, options),
  );
  post(`${one}/cancel`, [identify, checkType], cancel);
  post(`${one}/reset`, [identify, checkType], reset);
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
