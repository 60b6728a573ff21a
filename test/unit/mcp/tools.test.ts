import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { Problem, toProblemDocument } from '../../../src/core/problem.ts';
import { problemReply } from '../../../src/http/openapi/problems.ts';
import { createTools } from '../../../src/mcp/tools.ts';

const tools = [...createTools(problemReply).values()].map(({ definition }) => definition);

describe.each(tools)('the output schema of $name', ({ outputSchema }) => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(outputSchema);
  const problem = toProblemDocument(new Problem('not_found', { detail: 'There is none.' }), {
    baseUrl: 'http://localhost:8080',
  });

  it('has an object at its root and no dangling references', () => {
    const text = JSON.stringify(outputSchema);

    expect(outputSchema.type).toBe('object');
    expect(text).not.toContain('#/components/');
  });

  it('is at most 3 KiB, without descriptions and remote references', () => {
    const text = JSON.stringify(outputSchema);

    expect(text.length).toBeLessThanOrEqual(3072);
    expect(text).not.toContain('description":"');
    expect([...text.matchAll(/"\$ref":"([^"]*)"/g)].every(([, to]) => to?.startsWith('#/'))).toBe(
      true,
    );
  });

  it('accepts a problem document, including one with additional members', () => {
    expect(validate(problem)).toBe(true);
    expect(validate({ ...problem, more: 1 })).toBe(true);
  });

  it('rejects an incomplete body and an incomplete problem', () => {
    const { code: _code, ...half } = problem;

    expect([validate({}), validate(half), validate({ markdown: 'text' })]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('has no member with different types in the body and the problem', () => {
    const { properties = {} } = outputSchema as { properties?: object };

    const shared = Object.keys(properties).filter((name) => Object.hasOwn(problem, name));
    expect(shared).toEqual([]);
  });
});

it('skips reads that are not tools', () => {
  expect(tools.map(({ name }) => name)).not.toContain('get_oembed');
});
