import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  describeBodyParts,
  describeEndpointPaths,
  listReplySchemas,
} from '../../../../src/routes/openapi/document.ts';
import { nameExamples } from '../../../../src/routes/openapi/examples.ts';
import type { Endpoint } from '../../../../src/routes/route.ts';
import { endpoints } from '../../../../src/server/endpoints.ts';

const thing = z.object({ name: z.string(), tone: z.enum(['low', 'high']) }).meta({ id: 'Thing' });
const part = z.strictObject({ size: z.number() }).meta({ id: 'Part' });

const endpoint: Endpoint = {
  id: 'makeThing',
  method: 'POST',
  path: '/things/{id}',
  tag: 'discovery',
  title: 'Make a thing',
  summary: 'Makes a thing.',
  parameters: {
    path: z.object({ id: z.string().describe('Its id.') }),
    query: z.object({ dry: z.boolean().optional().describe('Whether nothing is made.') }),
    header: z.object({ 'Idempotency-Key': z.string().describe('Any text.') }),
  },
  body: { 'application/json': z.strictObject({ name: z.string(), parts: z.array(part) }) },
  replies: [
    {
      status: 201,
      description: 'It was made.',
      content: { 'application/json': z.object({ things: z.array(thing) }), 'text/plain': 'text' },
      headers: {
        Location: { description: 'Its address.' },
        Vary: { description: 'Chosen by.', isOptional: true },
      },
    },
  ],
  problems: ['invalid_body', 'not_found'],
  access: 'key',
};

// Description of an endpoint without optional members.
const plain: Endpoint = {
  id: 'dropThing',
  method: 'DELETE',
  path: '/things/{id}',
  tag: 'operator',
  title: 'Drop a thing',
  summary: 'Drops a thing.',
  replies: [{ status: 204, description: 'It is gone.' }],
  problems: [],
  access: 'operator',
};

const recorded = { things: [{ name: 'a', tone: 'low' }] };
const examples = nameExamples({
  ...{ baseUrl: 'https://perch.test', parameters: {}, reads: {}, problems: {} },
  endpoints: { makeThing: { 201: { 'application/json': recorded } } },
});

const described = JSON.parse(JSON.stringify(describeEndpointPaths([endpoint, plain], examples)));
const { post, delete: remove } = described['/things/{id}'];

describe('an endpoint', () => {
  it('becomes an operation of its path and method', () => {
    expect(Object.keys(described)).toEqual(['/things/{id}']);
    expect(post).toMatchObject({
      operationId: 'makeThing',
      summary: 'Make a thing',
      description: 'Makes a thing. A bearer key is optional and has a larger allowance.',
      tags: ['discovery'],
      security: [{}, { bearerKey: [] }],
      'x-rate-limit-policies': ['public', 'key'],
    });
    expect(remove.security).toEqual([{ adminToken: [] }]);
  });

  it('has its path, query and header parameters', () => {
    expect(post.parameters).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Its id.',
        schema: { type: 'string' },
      },
      {
        name: 'dry',
        in: 'query',
        required: false,
        description: 'Whether nothing is made.',
        schema: { type: 'boolean' },
      },
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: true,
        description: 'Any text.',
        schema: { type: 'string' },
      },
    ]);
    expect(remove).not.toHaveProperty('parameters');
  });

  it('has a closed body, with schemas separate from those of replies', () => {
    expect(post.requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              parts: { type: 'array', items: { $ref: '#/components/schemas/PartInput' } },
            },
            required: ['name', 'parts'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(describeBodyParts([endpoint, plain])).toEqual({
      PartInput: {
        type: 'object',
        properties: { size: { type: 'number' } },
        required: ['size'],
        additionalProperties: false,
      },
    });
  });

  it('has open schemas for replies in each media type', () => {
    const { content, headers } = post.responses[201];

    expect(content).toEqual({
      'application/json': {
        schema: {
          type: 'object',
          properties: { things: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
          required: ['things'],
        },
        examples: {
          sample: { $ref: '#/components/examples/makeThing.201.application-json' },
        },
      },
      'text/plain': { schema: { type: 'string' } },
    });
    expect(headers).toMatchObject({
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      'X-Api-Key-Status': { $ref: '#/components/headers/X-Api-Key-Status' },
      Location: { description: 'Its address.', required: true, schema: { type: 'string' } },
      Vary: { description: 'Chosen by.', schema: { type: 'string' } },
    });
    expect(headers.Vary).not.toHaveProperty('required');
    expect(listReplySchemas([endpoint, plain])).toHaveLength(1);
    expect(remove.responses[204]).not.toHaveProperty('content');
  });

  it('has its own problems, those of its access and the common ones, by status', () => {
    expect(Object.keys(post.responses).sort()).toEqual(
      ['201', '400', '401', '404', '414', '429', '500', '503', 'default'].sort(),
    );
    expect(post.responses[400].description).toMatch(/^`invalid_body`: .*\n\n`invalid_option`: /);
    expect(post.responses[429].headers).toHaveProperty('Retry-After');
    expect(remove.responses[401].description).toMatch(/^`unauthorized`: /);
    expect(Object.keys(remove.responses)).not.toContain('429');
  });
});

it('declares the parameters in the paths of all endpoints', () => {
  const ids = endpoints.map(({ id }) => id);

  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, parameters } of endpoints) {
    const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect([path, Object.keys(parameters?.path?.shape ?? {})]).toEqual([path, inTemplate]);
  }
});
