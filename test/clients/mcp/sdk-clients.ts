import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, type McpClient, type McpConnection, toReply } from './client.ts';

const identity = { name: 'perch-client-suite', version: '1.0.0' };

/** The SDKs of the protocol, and the proxy `mcp-remote`, which is run as assistants run it. */
export const sdkClients: readonly McpClient[] = [
  {
    name: '@modelcontextprotocol/sdk (v1)',
    connect: async (url) => {
      const { StreamableHTTPClientTransport } = await load(
        '@modelcontextprotocol/sdk/client/streamableHttp.js',
      );
      return connectV1(new StreamableHTTPClientTransport(new URL(url)));
    },
  },
  {
    name: '@modelcontextprotocol/client (v2), with a handshake',
    connect: (url) => connectV2(url, 'legacy'),
  },
  {
    name: '@modelcontextprotocol/client (v2), without a handshake',
    connect: (url) => connectV2(url, 'auto'),
  },
  { name: 'mcp-remote', connect: connectRemote },
];

async function connectV1(transport: unknown): Promise<McpConnection> {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client(identity);
  await client.connect(transport);
  return adapt(client);
}

async function connectV2(url: string, mode: 'legacy' | 'auto'): Promise<McpConnection> {
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const client = new Client(identity, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const usual = mode === 'legacy' ? '2025-11-25' : '2026-07-28';
  const revision = client.getNegotiatedProtocolVersion();
  if (revision !== usual) throw new Error(`The revision is ${revision}, not ${usual}.`);
  return adapt(client);
}

async function connectRemote(url: string): Promise<McpConnection> {
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const folder = mkdtempSync(join(tmpdir(), 'mcp-remote-'));
  const main = fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js'));
  const connection = await connectV1(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, url, '--allow-http'],
      env: { PATH: process.env.PATH ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
      stderr: 'ignore',
    }),
  );
  const close = async () => {
    await connection.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...connection, close };
}

/** Members that the clients of both SDKs have. */
interface SdkClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: object): Promise<Parameters<typeof toReply>[0]>;
  listPrompts(): Promise<{ prompts: unknown[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  close(): Promise<void>;
}

const adapt = (client: SdkClient): McpConnection => ({
  listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: async (name, args) => toReply(await client.callTool({ name, arguments: args })),
  more: {
    'finds no prompts, and the documents': async () => {
      const { prompts } = await client.listPrompts();
      const { resources } = await client.listResources();
      if (prompts.length > 0) throw new Error('The list of prompts is not empty.');
      if (!resources.some(({ uri }) => uri.endsWith('/docs/mcp'))) throw new Error('No docs.');
    },
  },
  close: () => client.close(),
});
