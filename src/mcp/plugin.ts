import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Client } from '../core/caller.ts';
import { jsonMediaTypes } from '../core/http/json-bodies.ts';
import type { Origins } from '../core/http/origins.ts';
import { Problem } from '../core/problem.ts';
import type { Ledger } from '../core/scheduling/ledger.ts';
import { type Turns, waitForTurn } from '../core/scheduling/turns.ts';
import { exposedHeaders, toCorsPolicy } from '../web/cors.ts';
import { refuseOtherMethods } from '../web/methods.ts';
import { createExchange, type McpExchange, maxBodyBytes } from './exchange.ts';
import type { McpOptions } from './server.ts';

/** The context of the route: all that it may use. */
interface McpPluginOptions extends Omit<McpOptions, 'onDefect'> {
  /** The web origins whose pages may call it. */
  readonly origins: Origins;
  /** Returns who asks, and why the request is not answered; `null` if it is. */
  readonly identityOf: (request: FastifyRequest) => {
    readonly caller: Caller;
    readonly refusal: Problem | null;
  };
  readonly clientOf: (request: FastifyRequest) => Client;
  readonly ledger: Ledger;
  readonly heavyTurns: Turns;
  /** Returns the problem of a process that takes no work at the moment; `null` while it does. */
  readonly shed: () => Problem | null;
  readonly track: <Value>(work: Promise<Value>) => Promise<Value>;
  /** Called with replies that may deserve a line in the log. */
  readonly logIfNotable: (request: FastifyRequest, reply: FastifyReply, status: number) => void;
}

export const mcpPath = '/mcp';

/** The methods that it answers. A server without sessions has no stream to GET and nothing to DELETE. */
const allow = ['POST'];
const noSessions =
  'The MCP server has no sessions: it answers POST with a JSON-RPC message, opens no stream for GET and has nothing to DELETE.';

/** Registers `/mcp`, Streamable HTTP without sessions. */
export async function mcpPlugin(app: FastifyInstance, options: McpPluginOptions) {
  const { origins, identityOf } = options;
  const cors = toCorsPolicy(origins, { methods: allow, exposedHeaders });
  const config = { allowance: 'browse', cors } as const;
  app.addHook('onRequest', (request, _reply, done) => {
    done(origins.faultOf(request.headers) ?? undefined);
  });
  app.removeAllContentTypeParsers();
  const limits = { parseAs: 'string', bodyLimit: maxBodyBytes } as const;
  app.addContentTypeParser(jsonMediaTypes, limits, (_request, body, done) => done(null, body));
  const open = openExchangeOnce(app, options);
  app.post(mcpPath, {
    config,
    onRequest: async (request) => {
      const refusal = options.shed() ?? identityOf(request).refusal;
      if (refusal !== null) throw refusal;
    },
    handler: async (request, reply) => {
      const exchange = { request, reply, leaving: leavingOf(reply) };
      const response = await options.track(answer(await open(), options, exchange));
      options.logIfNotable(request, reply, response.status);
      if (isStream(response)) await countStream(response, options, exchange);
      return send(reply, response);
    },
  });
  refuseOtherMethods(app, mcpPath, { allow, config, detail: noSessions });
}

/** The SDK is loaded by the first request: a start does not wait for it. */
function openExchangeOnce(app: FastifyInstance, options: McpPluginOptions) {
  let opening: Promise<McpExchange> | undefined;
  const open = async () => {
    const sdk = await import('@modelcontextprotocol/server');
    return createExchange(sdk, {
      ...options,
      onDefect: (err, id) => app.log.error({ request_id: id, err }, 'defect while calling a tool'),
      onReport: (err) => app.log.debug({ err }, 'MCP message refused'),
    });
  };
  // Streams would keep the server from closing.
  app.addHook('preClose', async () => (await opening)?.close());
  return () => (opening ??= open());
}

/** Fastify's own signal tells that the request has been read, which a POST is before it is answered. */
function leavingOf({ raw }: FastifyReply): AbortController {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) leaving.abort();
  });
  return leaving;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Aborted when the caller leaves. */
  readonly leaving: AbortController;
}

async function answer(
  mcp: McpExchange,
  { context, clientOf, identityOf, heavyTurns }: McpPluginOptions,
  { request, leaving }: Exchange,
): Promise<Response> {
  const { signal } = leaving;
  const client = clientOf(request);
  // Of replies to one connection, Node tells only the first that it was closed.
  const isHere = () => !signal.aborted && !request.socket.destroyed;
  const takeTurn = async () => {
    if (await waitForTurn(heavyTurns, client.address, isHere)) return;
    leaving.abort();
    throw signal.reason;
  };
  const headers = toHeaders(request);
  const asked = new Request(`${context.baseUrl}${mcpPath}`, { method: 'POST', headers, signal });
  const { caller } = identityOf(request);
  await takeTurn();
  const visitor = { caller, client, takeTurn, requestId: request.id };
  const response = await mcp.answer(asked, String(request.body ?? ''), visitor);
  signal.throwIfAborted();
  return response;
}

/** What the protocol reads. Nothing else of a request reaches the SDK, least of all a key. */
function toHeaders({ headers }: FastifyRequest): Headers {
  const { accept = '', 'content-type': contentType = '' } = headers;
  const ofProtocol = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('mcp-') && typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Headers({
    // Who takes anything takes both media types that the SDK looks for by their names.
    accept: /(?:^|[\s,])\*\/\*/.test(accept) ? 'application/json, text/event-stream' : accept,
    // The SDK knows one name of JSON; the parser has refused every other media type.
    'content-type': contentType === '' ? '' : 'application/json',
    ...Object.fromEntries(ofProtocol),
  });
}

async function send(reply: FastifyReply, response: Response) {
  // Streams are never kept or held back, and nothing here is for a shared cache.
  reply.code(response.status);
  for (const name of ['content-type', 'x-accel-buffering']) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  reply.header('cache-control', 'no-store');
  if (response.body === null) return reply.send();
  return reply.send(
    isStream(response) ? Readable.fromWeb(response.body as never) : await response.text(),
  );
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** @throws Problem `overloaded` for a client with too many open streams */
async function countStream(
  { body }: Response,
  { ledger, clientOf }: McpPluginOptions,
  { request, reply }: Exchange,
): Promise<void> {
  const hold = ledger.open('streams', clientOf(request));
  if (hold.take(1)) {
    reply.raw.once('close', hold.release);
    return;
  }
  await body?.cancel();
  const detail = 'Too many streams are open, in all or for this client address.';
  throw new Problem('overloaded', { detail });
}
