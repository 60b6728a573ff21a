import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readOpenApiJson, readOpenApiYaml } from '../../../../src/answers/readers/openapi.ts';
import type { ReadFile } from '../../../../src/answers/readers/section.ts';

const yaml = `openapi: 3.1.0
info:
  title: Birds
  description: All about birds.
paths:
  /birds/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    get:
      operationId: getBird
      summary: Gives a bird.
      parameters:
        - name: full
          in: query
          description: With feathers.
          schema: { type: boolean, default: false }
      responses:
        '404':
          description: No such bird.
components:
  parameters:
    Id: { name: id, in: path, description: Its ring. }
  schemas:
    Bird:
      description: A bird.
      properties:
        kind: { type: string, enum: [seal, gull] }
`;

const sections = [
  ['Birds', 1],
  ['GET /birds/{id}', 9],
  ['Bird', 24],
];

describe('readOpenApiYaml', () => {
  it('returns operations, parameters, responses and schemas with their lines', () => {
    const read = readOpenApiYaml(yaml);

    expect(read?.title).toBe('Birds');
    expect(read?.sections.map(({ heading, line }) => [heading, line])).toEqual(sections);
    expect(read?.sections[1]?.blocks.map(({ text, line }) => [text, line])).toEqual([
      ['Gives a bird.', 11],
      ['getBird', 10],
      ['`id` (path); Its ring.', 8],
      ['`full` (query); With feathers.; boolean; default `false`', 13],
      ['`404`: No such bird.', 18],
    ]);
    expect(read?.sections[2]?.blocks.at(-1)?.text).toBe('`kind`; string; one of `seal`, `gull`');
  });

  it.each(['a: 1', '[openapi: 3]', '', 'x:\n  openapi: 3'])('returns undefined for %j', (text) => {
    expect(readOpenApiYaml(text)).toBeUndefined();
  });
});

describe('readOpenApiJson', () => {
  it('returns the same as for YAML, with its own line numbers', () => {
    const json = JSON.stringify(parse(yaml), null, 2);
    const withoutLines = (read: ReadFile | undefined) =>
      read?.sections.map(({ heading, blocks }) => [heading, blocks.map(({ text }) => text)]);

    const read = readOpenApiJson(json);

    expect(withoutLines(read)).toEqual(withoutLines(readOpenApiYaml(yaml)));
    const lines = json.split('\n');
    for (const { heading, line } of read?.sections.slice(1) ?? []) {
      expect(lines[line - 1]).toContain(heading === 'Bird' ? '"Bird"' : '"get"');
    }
    expect(read?.sections[1]?.blocks.map(({ line }) => lines[line - 1]?.trim())).toEqual([
      '"summary": "Gives a bird.",',
      '"operationId": "getBird",',
      '{',
      '{',
      '"404": {',
    ]);
  });

  it('parses escaped strings and several values on one line', () => {
    const json =
      '{ "openapi": "3.1.0", "info": { "title": "T\\n\\"{[\\u00e9" },\n "paths": { "/a": { "get": {} } } }';

    expect(readOpenApiJson(json)?.sections.map(({ heading, line }) => [heading, line])).toEqual([
      ['T\n"{[é', 1],
      ['GET /a', 2],
    ]);
  });

  it('parses any depth', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

    expect(readOpenApiJson(`{"openapi": "3.1.0", "x": ${deep}}`)?.title).toBe('');
  });

  it.each(['{"name": "perch"}', '[{"openapi": 3}]', '{"x": {"openapi": "3"}}'])(
    'returns undefined for %j',
    (text) => {
      expect(readOpenApiJson(text)).toBeUndefined();
    },
  );
});
