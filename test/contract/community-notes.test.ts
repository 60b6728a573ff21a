import { expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { fxBody, fxStatus } from '../support/x-payloads.ts';

const source = 'https://harbour.example/council/2026/minutes?item=4';
const text = 'The council voted no: harbour.example/council/20…';
const community_note = {
  text,
  facets: [{ type: 'url', indices: [22, 48], display: text.slice(22), replacement: source }],
};

it.each(['markdown', 'obsidian', 'html', 'json', 'atom', 'rss', 'jsonfeed'])(
  'a community note, also of a quoted post, has its links in the format %s',
  async (format) => {
    const quote = fxStatus('1800', { community_note });
    const fx = await upstream((_request, response) =>
      answerJson(response, fxBody(fxStatus('2077', { community_note, quote }))),
    );
    const app = await buildTestApp({ env: { PERCH_FXTWITTER_URL: fx.url } });

    const url = '/api/v1/posts?url=https://x.com/i/status/2077&thread=off&replies=off';
    const reply = await app.request(`${url}&format=${format}`);

    expect(reply.statusCode).toBe(200);
    const links = reply.body.split('harbour.example/council/2026/minutes?item=4').length - 1;
    expect(links).toBeGreaterThanOrEqual(2);
  },
);
