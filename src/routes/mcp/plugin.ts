import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { jsonMediaTypes } from '../../lib/http/json-bodies.ts';
import type { Origins } from '../../lib/http/origins.ts';
import { Problem } from '../../lib/problem.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { exposedHeaders, toCorsPolicy } from '../cors.ts';
import { identityOf, refuseRead } from '../key-status/plugin.ts';
import type { ReadingOptions } from '../reads/read-routes.ts';
import { declareRoutes, serveRoutes } from '../route.ts';
import { createExchange, type McpExchange, maxBatch, maxBodyBytes } from './exchange.ts';
import type { McpOptions } from './server.ts';

interface McpPluginOptions
  extends Omit<ReadingOptions, 'sharedCacheSeconds'>,
    Omit<McpOptions, 'onDefect'> {
  readonly origins: Origins;
  readonly quotas: Quotas;
}

const noSessions =
  'The MCP server has no sessions, so only POST with a JSON-RPC message is supported.';

/** Registers the route `/mcp`, which serves MCP over Streamable HTTP without sessions. */
export async function mcpPlugin(app: FastifyInstance, options: McpPluginOptions) {
  const { origins, load, work, accessLog } = options;
  const cors = toCorsPolicy(origins, { methods: ['POST'], exposedHeaders });
  const config = { allowance: 'browse', cors } as const;
  app.addHook('onRequest', (request, _reply, done) => {
    done(origins.faultOf(request.headers) ?? undefined);
  });
  app.removeAllContentTypeParsers();
  const limits = { parseAs: 'string', bodyLimit: maxBodyBytes } as const;
  app.addContentTypeParser(jsonMediaTypes, limits, (_request, body, done) => done(null, body));
  const open = openExchangeOnce(app, options);
  const refuse = async (request: FastifyRequest) => refuseRead(request, load);
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const exchange = { request, reply, disconnect: abortOnDisconnect(reply) };
    const response = await work.track(answerMessage(await open(), options, exchange));
    accessLog.logIfNotable(request, reply, response.status);
    if (isStream(response)) await countStream(response, options, exchange);
    return send(exchange, response);
  };
  const handlers = { sendMcpMessage: { onRequest: [refuse], handler } };
  serveRoutes(app, mcpRoutes, handlers, { config, detail: noSessions });
}

function openExchangeOnce(app: FastifyInstance, options: McpPluginOptions) {
  let opening: Promise<McpExchange> | undefined;
  const open = async () => {
    return createExchange(await import('@modelcontextprotocol/server'), {
      ...options,
      onDefect: (err, fields) => app.log.error({ ...fields, err }, 'defect while calling a tool'),
      onReport: (err) => app.log.debug({ err }, 'MCP message refused'),
    });
  };
  // Open streams would prevent the server from closing.
  app.addHook('preClose', async () => (await opening)?.close());
  return () => (opening ??= open());
}

function abortOnDisconnect({ raw }: FastifyReply): AbortController {
  const disconnect = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) disconnect.abort();
  });
  return disconnect;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly disconnect: AbortController;
}

async function answerMessage(
  mcp: McpExchange,
  { context, identification, heavyTurns }: McpPluginOptions,
  { request, disconnect }: Exchange,
): Promise<Response> {
  const { signal } = disconnect;
  const client = identification.clientOf(request);
  // With pipelining, Node emits `close` only on the first response of a connection.
  const isConnected = () => !signal.aborted && !request.socket.destroyed;
  const takeTurn = async () => {
    await heavyTurns.take(client);
    if (isConnected()) return;
    disconnect.abort();
    throw signal.reason;
  };
  const options = { method: 'POST', headers: toHeaders(request), signal };
  const mcpRequest = new Request(`${context.baseUrl}${mcpPath}`, options);
  const { caller } = identityOf(request);
  await takeTurn();
  const identity = { caller, client, takeTurn, requestId: request.id, span: request.span };
  const response = await mcp.answer(mcpRequest, String(request.body ?? ''), identity);
  signal.throwIfAborted();
  return response;
}

function toHeaders({ headers }: FastifyRequest): Headers {
  const { 'content-type': contentType = '' } = headers;
  const mcpHeaders = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('mcp-') && typeof value === 'string' && value !== ''
      ? [[name, value] as const]
      : [],
  );
  return new Headers({
    // The SDK refuses every other value, even `*/*`. `send` reads the header of the request.
    accept: 'application/json, text/event-stream',
    // The SDK accepts no other media type. The body parser has already refused types that are not
    // JSON.
    'content-type': contentType === '' ? '' : 'application/json',
    ...Object.fromEntries(mcpHeaders),
  });
}

async function send({ request, reply }: Exchange, response: Response) {
  // Responses must not be cached or buffered.
  reply.code(response.status);
  for (const name of ['content-type', 'x-accel-buffering']) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  reply.header('cache-control', 'no-store');
  if (response.body === null) return reply.send();
  if (isStream(response)) return reply.send(Readable.fromWeb(response.body as never));
  const text = await response.text();
  if (response.status !== 200 || !acceptsOnlyStreams(request.headers.accept)) {
    return reply.send(text);
  }
  return reply
    .header('content-type', 'text/event-stream')
    .send(`event: message\ndata: ${text}\n\n`);
}

const maxRanges = 50;
const jsonRange = /^(?:application\/(?:json|\*)|\*\/\*)$/;

/** Returns whether a client accepts event streams, but not JSON (RFC 9110 §12.5.1). */
function acceptsOnlyStreams(accept = ''): boolean {
  const ranges = accept.toLowerCase().split(',', maxRanges);
  const types = ranges.flatMap((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : type;
  });
  return types.includes('text/event-stream') && !types.some((type) => jsonRange.test(type));
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

async function countStream(
  { body }: Response,
  { quotas, identification }: McpPluginOptions,
  { request, reply }: Exchange,
): Promise<void> {
  const reservation = quotas.open('streams', identification.clientOf(request));
  if (reservation.take(1)) {
    reply.raw.once('close', reservation.release);
    return;
  }
  await body?.cancel();
  const detail = 'Too many streams are open, either in total or for this client address.';
  throw new Problem('overloaded', { detail });
}

const mcpPath = '/mcp';

const id = z.union([z.string(), z.number()]);

const message = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    method: z.string().describe('Name of the MCP method, such as `tools/list`.'),
    id: id.optional().describe('Id of the request; absent for notifications.'),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'McpMessage' });

const sample = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const messages = z.union([message, z.array(message).max(maxBatch)]).meta({ examples: [sample] });

const answer = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: id
      .nullable()
      .describe('Id of the answered request; null if the server could not read the id.'),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.number().int(), message: z.string() }).optional(),
  })
  .meta({ id: 'McpAnswer' });

const content = { 'application/json': answer };

export const mcpRoutes = declareRoutes(
  { method: 'POST', tag: 'mcp', access: 'key' },
  {
    sendMcpMessage: {
      path: mcpPath,
      title: 'Send a message to the MCP server',
      summary: 'Handles a message of the Model Context Protocol.',
      description:
        'Streamable HTTP without sessions, in revision 2026-07-28 and the older revisions with a handshake since 2025-03-26. The tools are the reads. A failed tool call is a result with `isError`.',
      body: { 'application/json': messages },
      headers: { Vary: { description: 'Request headers on which the response depends.' } },
      replies: [
        {
          status: 200,
          description:
            'Response, or one response for each request of a batch. For clients that accept only `text/event-stream`, an event stream with this response.',
          content: {
            'application/json': z.union([answer, z.array(answer)]),
            'text/event-stream': 'text',
          },
        },
        { status: 202, description: 'The message was accepted and needs no response.' },
        { status: 400, description: 'The message is invalid.', content },
        { status: 404, description: 'The method does not exist in the newest revision.', content },
      ],
      problems: [
        'invalid_option',
        'invalid_key',
        'origin_not_allowed',
        'method_not_allowed',
        'payload_too_large',
        'unsupported_media_type',
      ],
    },
  },
);
