import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { refuseOtherMediaTypes } from '../../core/http/json-bodies.ts';
import type { Origins as PageOrigins } from '../../core/http/origins.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import { refuseWithoutBearer } from './calls.ts';
import { answerPreflight, isSessionPreflight } from './cors.ts';
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
}

/** The whole server's CORS stays away, and so does its refusal while it drains. */
const config = { cors: false, decidesWhileDraining: true };

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
    reply.headers(toSessionHeaders(request, origins));
  });
  readBytes(app);
  registerRoutes(app, options);
  for (const url of [`/${segment}`, `/${segment}/*`]) {
    const refuse = async (request: FastifyRequest) => {
      throw routeNotFound(request);
    };
    app.route({ method: methodsOf(app), url, config, onRequest: refuse, handler: refuse });
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

  app.get(`${base}/health`, { config }, handlers.health);
  app.post(
    `${base}/session`,
    { config, bodyLimit, onRequest: [identify, accept, checkType] },
    handlers.start,
  );
  const beforeMessage = [identify, accept, createSessionCheck(options), checkType];
  app.post<OneSession>(one, { config, bodyLimit, onRequest: beforeMessage }, handlers.followUp);
  app.get<OneSession>(
    `${one}/stream`,
    { config, exposeHeadRoute: false, onRequest: [identify, createKnownCheck(options)] },
    handlers.stream,
  );
  const change = { config, bodyLimit, onRequest: [identify, checkType] };
  app.post<OneSession>(`${one}/cancel`, change, handlers.cancel);
  app.post<OneSession>(`${one}/reset`, change, handlers.reset);

  const refuse = createRefusal(app, options);
  refuse(`${base}/health`, ['GET', 'HEAD']);
  refuse(`${base}/session`, ['POST']);
  refuse(one, ['POST']);
  refuse(`${one}/stream`, ['GET']);
  refuse(`${one}/cancel`, ['POST']);
  refuse(`${one}/reset`, ['POST']);
}

/** Creates the answer to methods that a path does not have: 405 with `Allow`, or a preflight's. */
function createRefusal(app: FastifyInstance, { origins }: SessionsOptions) {
  return (url: string, allow: readonly string[]): void => {
    const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
      if (isEmptyId(request.params)) throw routeNotFound(request);
      if (isSessionPreflight(request, origins)) return answerPreflight(reply, allow);
      throw new Problem('method_not_allowed', {
        detail: `This route answers ${allow.join(' and ')}.`,
        allow,
      });
    };
    const method = methodsOf(app).filter((name) => !allow.includes(name));
    app.route({ method, url, config, onRequest: refuse, handler: refuse });
  };
}

function isEmptyId(params: unknown): boolean {
  return typeof params === 'object' && params !== null && Object.values(params).includes('');
}

function methodsOf(app: FastifyInstance): HTTPMethods[] {
  return app.supportedMethods as HTTPMethods[]; // the router's own list
}

function routeNotFound({ raw }: FastifyRequest): Problem {
  const path = (raw.url ?? '').split('?', 1)[0] ?? '';
  return new Problem('route_not_found', { detail: `There is no route ${quoteInput(path)}.` });
}
