import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseOtherMediaTypes } from '../../core/http/json-bodies.ts';
import type { Origins as PageOrigins } from '../../core/http/origins.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import { refuseWithoutBearer } from './calls.ts';
import { type Origins, toSessionCors } from './cors.ts';
import { type ProblemTelling, sendSessionProblem, toSessionHeaders } from './reply.ts';
import {
  createHandlers,
  createKnownCheck,
  createSessionCheck,
  type HandlerSetting,
  type OneSession,
} from './routes.ts';

/** The context of the session routes. */
export interface SessionsOptions extends HandlerSetting {
  /** The first segment of their paths: `svc`. */
  readonly segment: string;
  /** Refuses pages of origins that are not allowed. */
  readonly pages: Pick<PageOrigins, 'faultOf'>;
  readonly problems: ProblemTelling;
  readonly origins: Origins;
}

/** A session goes on for a while when the server drains. */
const ofAll = { decidesWhileDraining: true };

/** Registers the session service under its prefix. */
export async function sessionsPlugin(app: FastifyInstance, options: SessionsOptions) {
  const { origins, pages, problems, segment } = options;
  app.decorateRequest('knownSession', null);
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
    const refuse = async (request: FastifyRequest) => {
      throw routeNotFound(request);
    };
    const config = { ...ofAll, cors: toSessionCors(origins, []) };
    app.route({
      method: [...app.supportedMethods],
      url,
      config,
      onRequest: refuse,
      handler: refuse,
    });
  }
}

/** Bodies are read as they are: what they may be is decided where their session is known. */
function readBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async ({ headers }: FastifyRequest, body: Buffer) => {
    refuseOtherMediaTypes(headers, body.length > 0); // nothing says before how long a chunked one is
    return body;
  };
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parse);
}

function registerRoutes(app: FastifyInstance, options: SessionsOptions): void {
  const { base, service } = options;
  const handlers = createHandlers(options);
  const accept = async () => service.refuseUnlessReady();
  const identify = async (request: FastifyRequest) => {
    if (isEmptyId(request.params)) throw routeNotFound(request);
    refuseWithoutBearer(request, options);
  };
  const checkType = async ({ headers }: FastifyRequest) => refuseOtherMediaTypes(headers);
  const { bodyBytes: bodyLimit } = service.limits;
  const one = `${base}/session/:sessionId`;
  /** Refuses the other methods of a path and returns the configuration of its route. */
  const answering = (url: string, ...allow: string[]) => {
    const config = { ...ofAll, cors: toSessionCors(options.origins, allow) };
    const isRoute = ({ params }: FastifyRequest) => !isEmptyId(params);
    refuseOtherMethods(app, url, { allow, isRoute, config });
    return config;
  };

  const health = `${base}/health`;
  app.get(health, { config: answering(health, 'GET', 'HEAD') }, handlers.health);
  const start = `${base}/session`;
  app.post(
    start,
    { config: answering(start, 'POST'), bodyLimit, onRequest: [identify, accept, checkType] },
    handlers.start,
  );
  const beforeMessage = [identify, accept, createSessionCheck(options), checkType];
  app.post<OneSession>(
    one,
    { config: answering(one, 'POST'), bodyLimit, onRequest: beforeMessage },
    handlers.followUp,
  );
  const stream = `${one}/stream`;
  const beforeStream = [identify, createKnownCheck(options)];
  app.get<OneSession>(
    stream,
    { config: answering(stream, 'GET'), exposeHeadRoute: false, onRequest: beforeStream },
    handlers.stream,
  );
  for (const [url, handler] of [
    [`${one}/cancel`, handlers.cancel],
    [`${one}/reset`, handlers.reset],
  ] as const) {
    const onRequest = [identify, checkType];
    app.post<OneSession>(url, { config: answering(url, 'POST'), bodyLimit, onRequest }, handler);
  }
}

function isEmptyId(params: unknown): boolean {
  return typeof params === 'object' && params !== null && Object.values(params).includes('');
}
