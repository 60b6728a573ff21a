import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';

/** Result of a tool call. */
export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** Listed tool. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

/** Client of either SDK. */
export interface TestClient {
  listTools(): Promise<readonly ListedTool[]>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<CallResult>;
  listResources(): Promise<readonly { readonly uri: string }[]>;
  listPrompts(): Promise<readonly unknown[]>;
  readText(uri: string): Promise<string | undefined>;
  readonly revision: string | undefined;
  readonly serverName: string | undefined;
  close(): Promise<void>;
}

/** Command for a server on standard input and output. */
export interface StdioServer {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** Target of a client: a URL with headers, or a command. */
export type Target =
  | { readonly url: string; readonly headers?: Record<string, string> }
  | StdioServer;

/** Connects a client. It is closed at the end of the test. */
type Connect = (target: Target) => Promise<TestClient>;

const me = { name: 'perch-tests', version: '1.0.0' };

/** Clients of both SDKs, the newer one with both protocol eras. */
export const clients: Readonly<Record<string, Connect>> = {
  'the v1 client': async (target) => {
    const client = new ClientV1(me);
    const transport =
      'url' in target
        ? new HttpV1(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
        : new StdioV1({ ...target, stderr: 'ignore' });
    // The types of the SDK are inconsistent under exactOptionalPropertyTypes.
    await client.connect(transport as never);
    return adapt(client as never, () =>
      'protocolVersion' in transport ? (transport.protocolVersion as string) : undefined,
    );
  },
  'the v2 client, by handshake': (target) => connectV2(target, 'legacy'),
  'the v2 client, by discovery': (target) => connectV2(target, { pin: '2026-07-28' }),
};

async function connectV2(
  target: Target,
  mode: 'legacy' | { readonly pin: string },
): Promise<TestClient> {
  const client = new ClientV2(me, { versionNegotiation: { mode } });
  const transport =
    'url' in target
      ? new HttpV2(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
      : new StdioV2({ ...target, stderr: 'ignore' });
  await client.connect(transport as never);
  return adapt(client as never, () => client.getNegotiatedProtocolVersion());
}

/** Members that both SDKs share. */
interface CommonClient {
  listTools(): Promise<{ tools: ListedTool[] }>;
  callTool(params: { name: string; arguments: object }): Promise<CallResult>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listPrompts(): Promise<{ prompts: unknown[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { text?: string }[] }>;
  getServerVersion(): { name: string } | undefined;
  close(): Promise<void>;
}

function adapt(client: CommonClient, revision: () => string | undefined): TestClient {
  onTestFinished(() => client.close());
  return {
    listTools: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    listResources: async () => (await client.listResources()).resources,
    listPrompts: async () => (await client.listPrompts()).prompts,
    readText: async (uri) => (await client.readResource({ uri })).contents[0]?.text,
    get revision() {
      return revision();
    },
    get serverName() {
      return client.getServerVersion()?.name;
    },
    close: () => client.close(),
  };
}
