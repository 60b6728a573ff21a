import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { untilAborted } from '../lib/scheduling/deadline.ts';
import { isHandshake, refuseUnknownRevision, withoutNulls } from './messages.ts';
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
