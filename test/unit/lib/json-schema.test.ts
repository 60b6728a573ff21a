import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  findReferences,
  type JsonSchema,
  refer,
  toInputSchema,
  toReplySchemas,
} from '../../../src/lib/json-schema.ts';

const leaf = z.object({ n: z.number().int() }).readonly().meta({ id: 'JsonSchemaTestLeaf' });
const tree = z
  .object({
    kind: z.enum(['oak', 'elm']),
    leaves: z.array(leaf).readonly(),
    get parent() {
      return tree.nullable();
    },
  })
  .meta({ id: 'JsonSchemaTestTree' });

describe('the schemas of replies', () => {
  const schemas = toReplySchemas([tree]);

  it('are those that the replies refer to, by id', () => {
    expect(Object.keys(schemas)).toEqual(['JsonSchemaTestLeaf', 'JsonSchemaTestTree']);
  });

  it('are open: they allow further members and values', () => {
    expect(schemas.JsonSchemaTestTree).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', 'x-extensible-enum': ['oak', 'elm'] },
        leaves: { type: 'array', items: { $ref: '#/components/schemas/JsonSchemaTestLeaf' } },
        parent: { anyOf: [{ $ref: '#/components/schemas/JsonSchemaTestTree' }, { type: 'null' }] },
      },
      required: ['kind', 'leaves', 'parent'],
    });
    expect(schemas.JsonSchemaTestLeaf).toEqual({
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
    });
  });

  it('are referred to by id, which is required', () => {
    expect(refer(leaf)).toEqual({ $ref: '#/components/schemas/JsonSchemaTestLeaf' });
    expect(() => refer(z.string())).toThrow('no id');
  });
});

describe('the schema of an input', () => {
  const forms = z.registry<JsonSchema>();
  const count = z.string().regex(/^\d+$/).transform(Number);
  forms.add(count, { type: 'integer', minimum: 0 });

  it('has the registered form, with its own description', () => {
    const input = z.object({
      count: count.optional().describe('How many.'),
      again: count.describe('Once more.'),
      text: z.string().toLowerCase(),
    });

    expect(toInputSchema(input, forms)).toEqual({
      type: 'object',
      properties: {
        count: { type: 'integer', minimum: 0, description: 'How many.' },
        again: { type: 'integer', minimum: 0, description: 'Once more.' },
        text: { type: 'string' },
      },
      required: ['again', 'text'],
    });
  });
});

it('finds references at any depth', () => {
  const document = { a: [{ $ref: '#/x' }, { b: { $ref: '#/y', c: null } }], $ref: 3 };

  expect(findReferences(document)).toEqual(['#/x', '#/y']);
});
