import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { refuseUnknownRevision, withoutNulls } from './exchange.ts';
import { createMcpServers, type McpOptions, type Sdk } from './server.ts';

interface StdioOptions extends McpOptions {
  readonly input: Readable;
  /** Writes a serialized message, which includes the line end. */
  readonly write: (text: string) => void;
  /** Signal that is aborted to end the connection. Calls in flight receive no response. */
  readonly stop: AbortSignal;
  readonly onReport: (error: Error) => void;
}

/** Maximum length of a message on standard input, in UTF-16 code units. */
const maxLineLength = 10_485_760;

/** Serves MCP over stdio, with one message per line, until the input ends. */
export async function serveStdio({ stop, onReport, ...options }: StdioOptions): Promise<void> {
  const [sdk, stdio] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const createServer = createMcpServers(sdk, options);
  const { transport, closed } = createLineTransport(sdk, options);
  stdio.serveStdio(() => createServer(), { transport, onerror: onReport });
  const close = () => void transport.close();
  stop.addEventListener('abort', close);
  if (stop.aborted) close();
  await closed;
  stop.removeEventListener('abort', close);
}

function createLineTransport(sdk: Sdk, { input, write }: Pick<StdioOptions, 'input' | 'write'>) {
  const decoder = new StringDecoder();
  const unanswered = new Set<unknown>();
  let line = '';
  let hasEnded = false;
  let isClosed = false;
  let resolveClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  const receive = (chunk: Buffer) => {
    const [rest = '', ...starts] = decoder.write(chunk).split('\n');
    line += rest;
    for (const start of starts) {
      takeLine(line);
      line = start;
    }
    if (line.length <= maxLineLength) return;
    transport.onerror?.(new Error('A message on standard input is too long.'));
    void transport.close();
  };
  const takeLine = (text: string) => {
    try {
      takeMessage(withoutNulls(JSON.parse(text)));
    } catch (error) {
      transport.onerror?.(error as Error);
    }
  };
  const takeMessage = (given: unknown) => {
    const message = sdk.parseJSONRPCMessage(given);
    const refusal = refuseUnknownRevision(sdk, message);
    if (refusal?.id != null) return write(sdk.serializeMessage({ ...refusal, id: refusal.id }));
    trackRequest(unanswered, message);
    transport.onmessage?.(message);
  };
  const closeWhenAnswered = () => {
    if (hasEnded && unanswered.size === 0) void transport.close();
  };
  const end = () => {
    hasEnded = true;
    closeWhenAnswered();
  };
  const transport: Transport = {
    start: async () => {
      input.on('data', receive).on('end', end).on('close', end).on('error', end);
    },
    send: async (message) => {
      if (isClosed) return;
      write(sdk.serializeMessage(message));
      if (!('method' in message)) unanswered.delete(message.id);
      closeWhenAnswered();
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      input.off('data', receive).off('end', end).off('close', end).pause();
      transport.onclose?.();
      resolveClosed();
    },
  };
  return { transport, closed };
}

function trackRequest(unanswered: Set<unknown>, message: JSONRPCMessage): void {
  if (!('method' in message) || message.method === 'subscriptions/listen') return;
  if ('id' in message) unanswered.add(message.id);
  else if (message.method === 'notifications/cancelled') {
    unanswered.delete(message.params?.requestId);
  }
}
