import { z } from 'zod';
import type { Endpoint } from '../core/endpoint.ts';
import { maxBatch } from './exchange.ts';
import { mcpPath } from './plugin.ts';

const id = z.union([z.string(), z.number()]);

const message = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    method: z.string().describe('For example `tools/list`.'),
    id: id.optional().describe('Absent where no answer is wanted.'),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'McpMessage' });

const answer = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: id.nullable().describe('That of the message; null where none could be read.'),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.number().int(), message: z.string() }).optional(),
  })
  .meta({ id: 'McpAnswer' });

const content = { 'application/json': answer };

export const mcpEndpoints: readonly Endpoint[] = [
  {
    id: 'sendMcpMessage',
    method: 'POST',
    path: mcpPath,
    tag: 'mcp',
    summary: 'Answers a message of the Model Context Protocol.',
    description:
      'Streamable HTTP without sessions, in the revision 2026-07-28 and in those with a handshake back to 2025-03-26. The tools are the reads; what fails within a call is a result with `isError`.',
    body: { 'application/json': z.union([message, z.array(message).max(maxBatch)]) },
    headers: { Vary: { description: 'The request headers that chose this reply.' } },
    replies: [
      {
        status: 200,
        description: 'The answer, or as many as the batch has requests.',
        content: {
          'application/json': z.union([answer, z.array(answer)]),
          'text/event-stream': 'text',
        },
      },
      { status: 202, description: 'Taken; there is nothing to answer.' },
      { status: 400, description: 'The message cannot be understood.', content },
      { status: 404, description: 'There is no such method in the newest revision.', content },
      {
        status: 406,
        description: '`Accept` lacks `application/json` or `text/event-stream`.',
        content,
      },
    ],
    problems: [
      'invalid_option',
      'invalid_key',
      'origin_not_allowed',
      'method_not_allowed',
      'payload_too_large',
      'unsupported_media_type',
    ],
    access: 'key',
  },
];
