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
import type { McpOptions, Visitor } from './server.ts';

interface McpIdentity {
  readonly caller: Caller;
  readonly refusal: Problem | null;
}

export interface McpPluginOptions extends Omit<McpOptions, 'onDefect'> {
  readonly origins: Origins;
  readonly identityOf: (request: FastifyRequest) => McpIdentity;
  readonly clientOf: (request: FastifyRequest) => Client;
  readonly ledger: Ledger;
  readonly heavyTurns: Turns;
  readonly shed: () => Problem | null;
  readonly track: <Value>(work: Promise<Value>) => Promise<Value>;
  readonly notice: (request: FastifyRequest, reply: FastifyReply, status: number) => void;
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
      const leaving = leavingOf(reply);
      const client = options.clientOf(request);
      const takeTurn = () => takeTurnOf(options.heavyTurns, { request, client, leaving });
      const posted = { request, client, signal: leaving.signal, takeTurn };
      const response = await options.track(answer(await open(), options, posted));
      options.notice(request, reply, response.status);
      if (isStream(response)) await countStream(response, options, { request, reply });
      return send(reply, response);
    },
  });
  refuseOtherMethods(app, mcpPath, { allow, config, detail: noSessions });
}

/** The SDK is loaded by the first request: a start does not wait for it. */
function openExchangeOnce(
  app: FastifyInstance,
  options: McpPluginOptions,
): () => Promise<McpExchange> {
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
  return () => {
    opening ??= open();
    return opening;
  };
}

/** Fastify's own signal tells that the request has been read, which a POST is before it is answered. */
function leavingOf({ raw }: FastifyReply): AbortController {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) leaving.abort();
  });
  return leaving;
}

interface Posted {
  readonly request: FastifyRequest;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly takeTurn: Visitor['takeTurn'];
}

/** Waits for the client's turn. Rejects if the caller has left by then. */
async function takeTurnOf(turns: Turns, { request, client, leaving }: Waiting): Promise<void> {
  // Of replies to one connection, Node tells only the first that it was closed.
  const isHere = () => !leaving.signal.aborted && !request.socket.destroyed;
  if (await waitForTurn(turns, client.address, isHere)) return;
  leaving.abort();
  throw leaving.signal.reason;
}

interface Waiting extends Pick<Posted, 'request' | 'client'> {
  readonly leaving: AbortController;
}

async function answer(
  exchange: McpExchange,
  options: McpPluginOptions,
  { request, client, signal, takeTurn }: Posted,
): Promise<Response> {
  const { baseUrl } = options.context;
  const asked = new Request(`${baseUrl}${mcpPath}`, {
    method: 'POST',
    headers: toHeaders(request),
    signal,
  });
  const { caller } = options.identityOf(request);
  const visitor = { caller, client, takeTurn, requestId: request.id };
  await takeTurn();
  const response = await exchange.answer(asked, String(request.body ?? ''), visitor);
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

/** Streams are never kept or held back, and nothing here is for a shared cache. */
const headersOfResponse = ['content-type', 'x-accel-buffering'];

async function send(reply: FastifyReply, { status, headers, body }: Response) {
  const own = headersOfResponse.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  reply.code(status).headers({
    ...Object.fromEntries(own),
    'cache-control': 'no-store',
  });
  if (body === null) return reply.send();
  const isOpen = isStream({ headers });
  return reply.send(isOpen ? Readable.fromWeb(body as never) : await new Response(body).text());
}

function isStream({ headers }: Pick<Response, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** @throws Problem `overloaded` for a client with too many open streams */
async function countStream(
  { body }: Response,
  { ledger, clientOf }: McpPluginOptions,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<void> {
  const hold = ledger.open('streams', clientOf(request));
  if (hold.take(1)) {
    reply.raw.once('close', hold.release);
    return;
  }
  await body?.cancel();
  throw new Problem('overloaded', {
    detail: 'Too many streams are open, in all or for this client address.',
  });
}
