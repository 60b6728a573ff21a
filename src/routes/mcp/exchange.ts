import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { quoteInput } from '../../lib/problem.ts';
import { redactKeys } from '../../lib/redact.ts';
import { untilAborted } from '../../lib/scheduling/deadline.ts';
import { createMcpServers, type McpOptions, type RequestIdentity, type Sdk } from './server.ts';

export type McpExchange = ReturnType<typeof createExchange>;

export const maxBodyBytes = 65_536;

const revisionOfBatches = '2025-03-26';

const revisionHeader = 'mcp-protocol-version';

export const maxBatch = 10;

const maxSubscriptions = 4096;

/** Creates the handler of MCP messages over HTTP. `onReport` gets each error of the MCP SDK. */
export function createExchange(
  sdk: Sdk,
  { onReport, ...options }: McpOptions & { readonly onReport: (error: Error) => void },
) {
  const createServer = createMcpServers(sdk, options);
  const identities = new WeakMap<Request, RequestIdentity>();
  const modern: McpHttpHandler = sdk.createMcpHandler(
    ({ requestInfo }) => createServer(requestInfo && identities.get(requestInfo)),
    { legacy: 'reject', onerror: onReport, maxSubscriptions, maxRequestBodySize: maxBodyBytes },
  );
  const answerLegacy = async (request: Request, parsedBody: unknown): Promise<Response> => {
    const server = createServer(identities.get(request));
    // Over HTTP, clients cancel by disconnecting. A batch that cancels its own call would never be
    // answered.
    server.setNotificationHandler('notifications/cancelled', () => undefined);
    server.onerror = onReport;
    const transportOptions = { enableJsonResponse: true };
    const transport = new sdk.WebStandardStreamableHTTPServerTransport(transportOptions);
    await server.connect(transport);
    try {
      // The work may never settle if the client disconnects.
      return await untilAborted(transport.handleRequest(request, { parsedBody }), request.signal);
    } finally {
      await server.close();
    }
  };
  return {
    /** Answers a POST request. The caller must abort its signal when the client disconnects. */
    answer: async (request: Request, body: string, identity: RequestIdentity) => {
      let parsedBody: unknown;
      try {
        parsedBody = withoutNulls(JSON.parse(body));
      } catch {
        return refuse(-32700, 'Parse error: the body is not JSON.');
      }
      // The body of a handshake proposes a revision, so its header does not matter.
      if (isHandshake(sdk, parsedBody)) request.headers.delete(revisionHeader);
      const revision = request.headers.get(revisionHeader);
      const refusal = refuseUnknownRevision(sdk, parsedBody, revision);
      if (refusal !== undefined) return Response.json(refusal, { status: 400 });
      identities.set(request, identity);
      if (!(await sdk.isLegacyRequest(request, parsedBody))) {
        return modern.fetch(request, { parsedBody });
      }
      return refuseBatch(request, parsedBody) ?? answerLegacy(request, parsedBody);
    },
    close: (): Promise<void> => modern.close(),
  };
}

function refuseBatch({ headers }: Request, body: unknown): Response | undefined {
  if (!Array.isArray(body)) return undefined;
  if (body.length > maxBatch) {
    const fault = `the batch has ${body.length} messages, and the maximum is ${maxBatch}.`;
    return refuse(-32600, `Invalid Request: ${fault}`);
  }
  const revision = headers.get(revisionHeader) ?? revisionOfBatches;
  if (revision === revisionOfBatches) return undefined;
  return refuse(-32600, `Invalid Request: revision ${revision} does not support batches.`);
}

function refuse(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status: 400 });
}

const revisionWithoutHandshake = '2026-07-28';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes `params` members that are `null`, which many clients send although MCP has none. */
export function withoutNulls(message: unknown): unknown {
  return Array.isArray(message) ? message.map(removeNulls) : removeNulls(message);
}

function removeNulls(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  if (!isObject(params)) return message;
  const given = Object.entries(params).filter(([, value]) => value !== null);
  return { ...rest, params: Object.fromEntries(given) };
}

/** Returns whether a message starts a handshake, in which client and server agree on a revision. */
const isHandshake = (sdk: Sdk, message: unknown): boolean =>
  isObject(message) && message.method === 'initialize' && revisionIn(sdk, message) === null;

const headerMismatch = -32020;

/** Returns the error for an unknown MCP revision, named by message or `MCP-Protocol-Version`. */
export function refuseUnknownRevision(sdk: Sdk, message: unknown, header: string | null = null) {
  const known = [revisionWithoutHandshake, ...sdk.SUPPORTED_PROTOCOL_VERSIONS];
  const inMessage = revisionIn(sdk, message);
  const unknown = [header, inMessage].find((name) => name !== null && !known.includes(name));
  if (typeof unknown !== 'string') return undefined;
  const isMismatch = header !== null && inMessage !== null && header !== inMessage;
  const id = isObject(message) ? message.id : null;
  return {
    jsonrpc: '2.0' as const,
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error: {
      code: isMismatch ? headerMismatch : sdk.ProtocolErrorCode.UnsupportedProtocolVersion,
      message: `Unsupported protocol version ${quoteInput(unknown)}. The supported versions are ${known.join(', ')}.`,
      // As in `server/discover`, only revisions without a handshake.
      data: { supported: [revisionWithoutHandshake], requested: redactKeys(unknown).slice(0, 80) },
    },
  };
}

function revisionIn(sdk: Sdk, message: unknown): string | null {
  const params = isObject(message) ? message.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  const revision = isObject(meta) ? meta[sdk.PROTOCOL_VERSION_META_KEY] : undefined;
  return typeof revision === 'string' ? revision : null;
}
