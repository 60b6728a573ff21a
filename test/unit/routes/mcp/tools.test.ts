import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { reads } from '../../../../src/reads/index.ts';
import { describeParametersOf } from '../../../../src/reads/read.ts';
import { createTools } from '../../../../src/routes/mcp/server.ts';

const definitions = [...createTools().values()].map(({ definition }) => definition);
const properties = definitions.flatMap(({ name, inputSchema }) =>
  Object.entries(inputSchema.properties).map(
    ([property, schema]) => [`${name}.${property}`, schema] as const,
  ),
);

it('skips reads that are not tools', () => {
  expect(definitions.map(({ name }) => name)).not.toContain('get_oembed');
});

it.each(definitions)('the definition of $name has no output schema', (definition) => {
  expect(definition).not.toHaveProperty('outputSchema');
});

describe.each(definitions)('the input schema of $name', ({ inputSchema }) => {
  it('has only keywords that all vendors of language models accept', () => {
    const { required, ...rest } = inputSchema;

    expect(Object.keys(rest)).toEqual(['type', 'properties']);
    expect(rest.type).toBe('object');
    if (required !== undefined) expect(required).not.toEqual([]);
    expect(Object.keys(rest.properties)).toEqual(expect.arrayContaining(required ?? []));
  });

  it('is valid in JSON Schema, in strict mode', () => {
    expect(() => new Ajv2020({ strict: true }).compile(inputSchema)).not.toThrow();
  });
});

describe.each(properties)('the property %s', (_name, schema) => {
  const { type, description, enum: words, minimum, maximum, ...rest } = schema;

  it('has one plain type, a description and only plain keywords', () => {
    expect(['string', 'integer', 'boolean']).toContain(type);
    expect(description).toMatch(/[.]$/);
    expect(Object.keys(rest).filter((keyword) => keyword !== 'default')).toEqual([]);
  });

  it('has words only for text, and bounds only for numbers', () => {
    if (words !== undefined) {
      expect(type).toBe('string');
      expect(words).toEqual(expect.arrayContaining([expect.stringMatching(/./)]));
    }
    for (const bound of [minimum, maximum]) {
      if (bound !== undefined) expect([type, typeof bound]).toEqual(['integer', 'number']);
    }
  });

  it('accepts its own default', () => {
    const validate = new Ajv2020({ strict: true }).compile(schema);

    if ('default' in schema) expect(validate(schema.default)).toBe(true);
  });
});

it('requires the parameters that the HTTP API requires', () => {
  const required = definitions.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]);

  const expected = Object.values(reads).flatMap((read) =>
    read.tool === null
      ? []
      : [[read.tool, describeParametersOf(read).flatMap((one) => (one.required ? one.name : []))]],
  );
  expect(required).toEqual(expected);
});

it('offers the formats that are of use to a model', () => {
  const formats = definitions.map(({ name, inputSchema }) => [
    name,
    inputSchema.properties.format?.enum,
  ]);

  expect(Object.fromEntries(formats)).toEqual({
    get_post: ['markdown', 'json', 'obsidian'],
    list_replies: ['markdown', 'json'],
    get_profile: ['markdown', 'json'],
    list_followers: ['markdown', 'json'],
    list_following: ['markdown', 'json'],
    search: ['markdown', 'json'],
  });
});

it('describes arguments that have several forms as text', () => {
  const [post, , profile, , , search] = definitions.map(
    ({ inputSchema }) => inputSchema.properties,
  );

  expect(post?.thread).toMatchObject({ type: 'string', default: 'full' });
  expect(post?.thread).not.toHaveProperty('enum');
  for (const time of [profile?.until, search?.since, search?.until]) {
    expect(time).toEqual({
      type: 'string',
      description: expect.stringContaining('`2026-01-31T12:00Z` or Unix seconds'),
    });
  }
});
