import { describe, expect, it } from 'vitest';
import { writeApiPages } from '../../../../../../src/routes/pages/docs/api/write-pages.ts';
import { createMarkdown } from '../../../../../../src/routes/pages/docs/markdown.ts';
import { parseHtml } from '../../../../../support/render-html.ts';

const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)> | a **bold** `x|y`';

const writePages = (document: unknown) => writeApiPages(document, (name) => `About ${name}`);

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

describe('the pages of a description', () => {
  it('has tables of parameters, replies and members', () => {
    const pages = writePages(documentOf('Text.'));
    const lines = ['api/v1', 'api/schemas'].flatMap((name) => pages.get(name)?.split('\n') ?? []);

    expect(lines).toEqual(
      expect.arrayContaining([
        '# About api/v1',
        '## Text. {#putThing}',
        '`PUT /things/{id}`, operation id `putThing`',
        '## Thing {#Thing}',
        '| `id` | path, required | string |  | Text. |',
        '| `size` | query | integer from 1 to 9 | `3` | First line. Second line. |',
        'Request body: `application/json`: [Thing](schemas.md#Thing)',
        '| `200` | Done. `application/json`: [Thing](schemas.md#Thing) |',
        'Errors: `404` [`not_found`](../errors.md#not_found)',
        '| `name` | string | Text. |',
        '| `parts` | array of [Thing](schemas.md#Thing), optional |  |',
        '| `note` | string or null, optional |  |',
      ]),
    );
  });

  it('begin with a list of all operations and schemas', () => {
    const { paths, ...others } = documentOf('Text.');
    const { put } = paths['/things/{id}'];
    const named = { ...put, summary: 'Put a thing' };

    const page = writePages({ ...others, paths: { '/a': { put: named } } }).get('api');

    expect(page).toContain('# About api\n\nEvery operation');
    expect(page).toContain(
      '## About api/v1\n\nText. [Details](api/v1.md).\n\n- [Put a thing](api/v1.md#putThing): `PUT /a`\n',
    );
    expect(page).toContain('## About api/schemas\n\n[Thing](api/schemas.md#Thing)\n');
  });

  it('quotes values in the command for a shell', () => {
    const [command] = /^curl .*$/m.exec(writePages(documentOf('Text.')).get('api/v1') ?? '') ?? [];

    expect(command).toBe(
      String.raw`curl -X PUT -H 'Content-Type: application/json' -d '{"name":"Ada'\''s"}' 'http://perch.test/things/a%27b%20c?kind=a%7Cb'`,
    );
  });

  it('renders Markdown, and shows HTML as text', async () => {
    const pages = [...writePages(documentOf(hostile)).values()];
    const render = await createMarkdown();

    const htmls = pages.map((page) => render(page, () => null).html);
    const { elements, text } = parseHtml(htmls.join('\n'));

    expect(elements.filter(({ tag }) => tag === 'script' || tag === 'img')).toEqual([]);
    expect(elements.some(({ tag, text: shown }) => tag === 'strong' && shown === 'bold')).toBe(
      true,
    );
    expect(text).toContain('<script>alert(1)</script>');
    const cells = elements.filter(({ tag }) => tag === 'td').map((cell) => cell.text);
    expect(cells).toContain('<script>alert(1)</script><img src=x onerror=alert(1)> | a bold x|y');
    expect(cells).toContain('a|b');
  });

  it('describes what an operation does not share with one of the same name and responses', () => {
    const { paths, ...others } = documentOf('Text.');
    const { put } = paths['/things/{id}'];
    const [id, size, kind] = put.parameters;
    const variant = {
      ...{ ...put, operationId: 'putOther', summary: 'Text. (short)' },
      ...{ description: 'Text. New.', parameters: [{ ...id, description: 'Other.' }, size] },
    };
    const other = { ...put, operationId: 'putElse', responses: {} };
    const twice = { '/a': { put }, '/b': { put: other }, '/c/{id}': { put: variant } };

    const page = writePages({ ...others, paths: twice }).get('api/v1') ?? '';

    expect(kind?.name).toBe('kind');
    const [, variants = '', rest = ''] = page.split(/\n(?=### )|\n(?=## .*putElse)/);
    expect(variants.split('\n\n').slice(0, 5)).toEqual([
      '### Text. (short) {#putOther}',
      '`PUT /c/{id}`, operation id `putOther`',
      'New.',
      '| parameter | in | values | default | description |\n| --- | --- | --- | --- | --- |\n| `id` | path, required | string |  | Other. |',
      'Takes the other parameters of [Text.](#putThing) except `kind`, and gives its responses.',
    ]);
    expect(rest).toContain('| `kind` |');
  });
});
