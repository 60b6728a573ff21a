import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { createMcpServers, type McpOptions, type Sdk, type Visitor } from './server.ts';

export type McpExchange = ReturnType<typeof createExchange>;

/** Maximum number of bytes of a body. Calls are small; a batch can be larger. */
export const maxBodyBytes = 1_048_576;

/** The revision that had batches, and the default of a request that names none (2025-06-18, Transports). */
const revisionOfBatches = '2025-03-26';

/** Maximum number of messages in a batch, so that one request makes no more than that many results. */
export const maxBatch = 10;

/** Maximum number of open streams of notifications. The ledger bounds those of one client. */
const maxSubscriptions = 4096;

/** Creates the exchange. `onReport` is called with the errors of the SDK and with messages that it refuses. */
export function createExchange(
  sdk: Sdk,
  { onReport, ...options }: McpOptions & { readonly onReport: (error: Error) => void },
) {
  const createServer = createMcpServers(sdk, options);
  const visitors = new WeakMap<Request, Visitor>();
  const modern: McpHttpHandler = sdk.createMcpHandler(
    ({ requestInfo }) => createServer(requestInfo && visitors.get(requestInfo)),
    { legacy: 'reject', onerror: onReport, maxSubscriptions, maxRequestBodySize: maxBodyBytes },
  );
  const answerLegacy = async (request: Request, parsedBody: unknown): Promise<Response> => {
    const server = createServer(visitors.get(request));
    // A caller cancels a call by leaving. A batch that cancels a call of its own would wait forever.
    server.setNotificationHandler('notifications/cancelled', () => undefined);
    server.onerror = onReport;
    const how = { enableJsonResponse: true };
    const transport = new sdk.WebStandardStreamableHTTPServerTransport(how);
    await server.connect(transport);
    try {
      return await untilAborted(request.signal, transport.handleRequest(request, { parsedBody }));
    } finally {
      await server.close();
    }
  };
  return {
    /** Answers a POST. The signal of the request is aborted when the caller leaves. */
    answer: async (request: Request, body: string, visitor: Visitor): Promise<Response> => {
      let parsedBody: unknown;
      try {
        parsedBody = JSON.parse(body);
      } catch {
        return refuse(-32700, 'Parse error: the body is not JSON.');
      }
      visitors.set(request, visitor);
      if (!(await sdk.isLegacyRequest(request, parsedBody))) {
        return modern.fetch(request, { parsedBody });
      }
      return refuseBatch(request, parsedBody) ?? answerLegacy(request, parsedBody);
    },
    close: (): Promise<void> => modern.close(),
  };
}

/** Refuses a batch that is too large, or of a revision over HTTP that has none. */
function refuseBatch({ headers }: Request, body: unknown): Response | undefined {
  if (!Array.isArray(body)) return undefined;
  if (body.length > maxBatch) {
    const fault = `the batch has ${body.length} messages; it takes ${maxBatch} at most.`;
    return refuse(-32600, `Invalid Request: ${fault}`);
  }
  const revision = headers.get('mcp-protocol-version') ?? revisionOfBatches;
  if (revision === revisionOfBatches) return undefined;
  return refuse(-32600, `Invalid Request: the revision ${revision} has no batches.`);
}

function refuse(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status: 400 });
}

/** Waits for work, but not after the caller has left: then it may never be answered. */
function untilAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
