import { describe, expect, it } from 'vitest';
import { describeMedia } from '../../src/render/blocks/block.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import {
  accountRow,
  homeHost,
  imageRow,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';

const id = snowflake(Date.UTC(2026, 0, 5));
const url = `/api/v1/posts?url=https://${homeHost}/@wren/${id}&thread=off&replies=off`;
const table = `https://files.example.org/tide%20table.odp`;

/** App with a post that has an attachment. */
async function startApp(fields: object) {
  const attachment = imageRow('tides', { type: 'unknown', meta: null, ...fields });
  const status = statusRow(id, accountRow('wren'), { media_attachments: [attachment] });
  const { app } = await buildMastodonApp({
    [homeHost]: (_request, response) => answerJson(response, status),
  });
  return app;
}

describe('an attachment of unknown type', () => {
  it('is a link with its name and type in Markdown and web pages', async () => {
    const app = await startApp({ url: table, description: 'Tides of May' });

    const markdown = await app.request(`${url}&format=markdown`);
    const html = await app.request(`${url}&format=html`);

    const label =
      'File: tide table.odp (application/vnd.oasis.opendocument.presentation): Tides of May';
    expect(markdown.body).toContain(`](${table})`);
    expect(markdown.body).toContain('[File: tide table.odp');
    expect(markdown.body).not.toContain(`![`);
    expect(html.body).toContain(label);
    expect(html.body).not.toContain('<img class="media"');
  });

  it('is a file in JSON, not a photo', async () => {
    const app = await startApp({ url: table });

    const { media } = (await app.request(`${url}&format=json`)).json().posts[0];

    expect(media.photos).toEqual([]);
    expect(media.all).toMatchObject([
      {
        type: 'file',
        url: table,
        name: 'tide table.odp',
        content_type: 'application/vnd.oasis.opendocument.presentation',
      },
    ]);
  });

  it.each([
    ['report.pdf', {}, 'application/pdf'],
    ['backup', { mime: 'application/zip' }, 'application/zip'],
    ['backup', { pleroma: { mime_type: 'application/gzip' } }, 'application/gzip'],
    ['backup', {}, 'application/octet-stream'],
  ])('has its real type in feeds: %s %j', async (name, fields, type) => {
    const app = await startApp({ url: `https://files.example.org/${name}`, ...fields });

    const atom = await app.request(`${url}&format=atom`);
    const feed = (await app.request(`${url}&format=jsonfeed`)).json();

    expect(atom.body).toContain(`type="${type}"`);
    expect(atom.body).not.toContain('image/jpeg');
    expect(feed.items[0].attachments).toMatchObject([{ mime_type: type }]);
  });

  it.each([
    ['reef.webp', {}, 'photo'],
    ['reef', { mime: 'image/heic' }, 'photo'],
    ['reef.MKV', {}, 'video'],
    ['reef.flac', {}, 'audio'],
  ])('is shown as what its type or extension says: %s %j', async (name, fields, type) => {
    const app = await startApp({ url: `https://files.example.org/${name}`, ...fields });

    const { media } = (await app.request(`${url}&format=json`)).json().posts[0];

    expect(media.all[0].type).toBe(type);
  });

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1499, '1.5 kB'],
    [999_499, '999 kB'],
    [999_500, '1 MB'],
    [999_999_999, '1 GB'],
    [12_345_678_901_234, '12300 GB'],
  ])('has its size in the unit that fits the rounded number: %i', (size, text) => {
    const file = { type: 'file', url: table, width: null, height: null, alt: null } as const;

    expect(describeMedia([{ ...file, name: 'tide.odp', size }])).toEqual([
      `File: tide.odp (${text})`,
    ]);
  });
});
