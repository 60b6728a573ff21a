import { describe, expect, it } from 'vitest';
import { readOpenApi } from '../../../../src/answers/readers/openapi.ts';

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

describe('readOpenApi', () => {
  it('gives operations, parameters, responses and schemas with their lines', () => {
    const read = readOpenApi(yaml);

    expect(read?.title).toBe('Birds');
    expect(read?.sections.map(({ heading, line }) => [heading, line])).toEqual([
      ['Birds', 1],
      ['GET /birds/{id}', 9],
      ['Bird', 24],
    ]);
    expect(read?.sections[1]?.blocks.map(({ text, line }) => [text, line])).toEqual([
      ['Gives a bird.', 11],
      ['getBird', 10],
      ['`id` (path); Its ring.', 8],
      ['`full` (query); With feathers.; boolean; default `false`', 13],
      ['`404`: No such bird.', 18],
    ]);
    expect(read?.sections[2]?.blocks.at(-1)?.text).toBe('`kind`; string; one of `seal`, `gull`');
  });

  it('reads JSON too', () => {
    const json =
      '{ "openapi": "3.1.0", "info": { "title": "T" },\n "paths": { "/a": { "get": {} } } }';

    expect(readOpenApi(json)?.sections.map(({ heading }) => heading)).toEqual(['T', 'GET /a']);
  });

  it.each(['{"name": "perch"}', 'a: 1', '[openapi: 3]', ''])('leaves %j alone', (text) => {
    expect(readOpenApi(text)).toBeUndefined();
  });
});
