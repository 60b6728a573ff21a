import type { LightMyRequestResponse } from 'fastify';
import type { TestClient } from './build-app.ts';

/** Headers of all MCP messages over HTTP. */
export const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** Protocol era: with a handshake (legacy), or with an envelope in each request (modern). */
export type Era = 'legacy' | 'modern';

/** Both protocol eras. */
export const eras = ['legacy', 'modern'] as const;

/** Request message. */
export interface McpRequest {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const revision = '2026-07-28';
const key = (name: string) => `io.modelcontextprotocol/${name}`;
const envelope = {
  [key('protocolVersion')]: revision,
  [key('clientInfo')]: { name: 'test', version: '1' },
  [key('clientCapabilities')]: {},
};

/** Returns the message and the headers of a request in a protocol era. */
export function toMessage(
  era: Era,
  { method, params = {}, headers = {} }: McpRequest,
): { readonly body: string; readonly headers: Record<string, string> } {
  const message = { jsonrpc: '2.0', id: 1, method };
  const shared = { ...mcpHeaders, ...headers };
  if (era === 'legacy') return { body: JSON.stringify({ ...message, params }), headers: shared };
  const named = params.name ?? params.uri;
  return {
    body: JSON.stringify({ ...message, params: { ...params, _meta: envelope } }),
    headers: {
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      ...shared,
    },
  };
}

/** Sends a request to the MCP server of an app in a protocol era. */
export function sendMcp(
  app: TestClient,
  era: Era,
  request: McpRequest,
): Promise<LightMyRequestResponse> {
  const { body, headers } = toMessage(era, request);
  return post(app, body, headers);
}

/** Posts a body to the MCP server of an app. Strings are sent as they are, other values as JSON. */
export function post(
  app: TestClient,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  return app.request('/mcp', {
    method: 'POST',
    headers: { ...mcpHeaders, ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Calls a tool. */
export function callTool(
  app: TestClient,
  name: string,
  { arguments: args = {}, headers = {}, era = 'legacy' }: CallOptions = {},
): Promise<LightMyRequestResponse> {
  return sendMcp(app, era, { method: 'tools/call', params: { name, arguments: args }, headers });
}

/** Options of a tool call. */
export interface CallOptions {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly era?: Era;
}
