import { z } from 'zod';
import { declareRoutes } from '../web/route.ts';
import { maxBatch } from './exchange.ts';

export const mcpPath = '/mcp';

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
