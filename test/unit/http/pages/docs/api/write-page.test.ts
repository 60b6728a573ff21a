import { describe, expect, it } from 'vitest';
import { writeApiPage } from '../../../../../../src/http/pages/docs/api/write-page.ts';
import { createMarkdown } from '../../../../../../src/http/pages/docs/markdown.ts';
import { parseHtml } from '../../../../../support/render-html.ts';

const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)> | a **bold** `x|y`';

function documentOf(text: string) {
  const schema = { $ref: '#/components/schemas/Thing' };
  return {
    info: { version: '1', description: text },
    servers: [{ url: 'http://perch.test' }],
    tags: [{ name: 'v1', description: text }],
    paths: {
      '/things/{id}': {
        put: {
          operationId: 'putThing',
          summary: text,
          description: text,
          tags: ['v1'],
          parameters: [
            {
              name: 'id',
              in: 'path',
              required: true,
              description: text,
              schema: { type: 'string' },
              example: "a'b c",
            },
            {
              name: 'size',
              in: 'query',
              required: false,
              description: 'First line.\nSecond line.',
              schema: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
            },
            {
              name: 'kind',
              in: 'query',
              required: true,
              description: '',
              schema: { enum: ['a|b'] },
            },
          ],
          requestBody: { content: { 'application/json': { schema } } },
          responses: {
            200: {
              description: 'Done.',
              content: {
                'application/json': {
                  schema,
                  examples: { one: { $ref: '#/components/examples/thing' } },
                },
              },
            },
            404: { $ref: '#/components/responses/Missing' },
          },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            name: { type: 'string', description: text },
            parts: { type: 'array', items: schema },
            note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          },
          required: ['name'],
          examples: [{ name: "Ada's" }],
        },
      },
      responses: { Missing: { description: '`not_found`: It is not there.' } },
      examples: { thing: { value: { name: text } } },
    },
    'x-problem-codes': { not_found: {} },
  };
}

describe('the page of a description', () => {
  it('has tables of parameters, replies and members', () => {
    const lines = writeApiPage('API', documentOf('Text.')).split('\n');

    expect(lines).toEqual(
      expect.arrayContaining([
        '`PUT /things/{id}`',
        '| `id` | path, required | string |  | Text. |',
        '| `size` | query | integer from 1 to 9 | `3` | First line. Second line. |',
        'Request body: `application/json`: [Thing](#Thing)',
        '| `200` | Done. `application/json`: [Thing](#Thing) |',
        '| `404` | [`not_found`](errors.md#not_found) |',
        '| `name` | string | Text. |',
        '| `parts` | array of [Thing](#Thing), optional |  |',
        '| `note` | string or null, optional |  |',
      ]),
    );
  });

  it('quotes values in the command for a shell', () => {
    const [command] = /^curl .*$/m.exec(writeApiPage('API', documentOf('Text.'))) ?? [];

    expect(command).toBe(
      String.raw`curl -X PUT -H 'Content-Type: application/json' -d '{"name":"Ada'\''s"}' 'http://perch.test/things/a%27b%20c?kind=a%7Cb'`,
    );
  });

  it('renders Markdown, and shows HTML as text', async () => {
    const page = writeApiPage('API', documentOf(hostile));

    const { elements, text } = parseHtml((await createMarkdown())(page, () => null).html);

    expect(elements.filter(({ tag }) => tag === 'script' || tag === 'img')).toEqual([]);
    expect(elements.some(({ tag, text: shown }) => tag === 'strong' && shown === 'bold')).toBe(
      true,
    );
    expect(text).toContain('<script>alert(1)</script>');
    const cells = elements.filter(({ tag }) => tag === 'td').map((cell) => cell.text);
    expect(cells).toContain('<script>alert(1)</script><img src=x onerror=alert(1)> | a bold x|y');
    expect(cells).toContain('a|b');
  });

  it('refers to the first of operations that differ only in their paths', () => {
    const { paths, ...others } = documentOf('Text.');
    const { put } = paths['/things/{id}'];
    const twice = { '/a': { put }, '/b': { put: { ...put, operationId: 'putOther' } } };

    const page = writeApiPage('API', { ...others, paths: twice });

    expect(page).toContain('#### putOther\n\n`PUT /b`: the same as [putThing](#putThing).');
  });
});
