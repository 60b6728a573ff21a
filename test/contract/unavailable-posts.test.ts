import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import {
  fxBody,
  fxStatus,
  fxTombstone,
  syndicationPost,
  syndicationTombstone,
} from '../support/x-payloads.ts';

const id = '2077';
const url = `/api/v1/posts?url=https://x.com/i/status/${id}&format=json`;

/** Starts an app whose two sources of X answer with the bodies. */
async function startApp(first: object, second: object, secondStatus = 200) {
  const fx = await upstream((_request, response) =>
    answerJson(response, { code: 404, thread: null, author: null, ...first }, { status: 404 }),
  );
  const embeds = await upstream((_request, response) =>
    answerJson(response, second, { status: secondStatus }),
  );
  const env = { PERCH_FXTWITTER_URL: fx.url, PERCH_SYNDICATION_URL: embeds.url };
  return { app: await buildTestApp({ env }), embeds };
}

describe('a post that X does not show', () => {
  it.each([
    ['Age-restricted adult content. Log in to X.', 'age_restricted', /age-restricted/],
    ['This Post has been withheld in Ruritania based on local law(s).', 'withheld', /in Ruritania/],
    ['This Post is from a suspended account.', 'suspended', /suspended account/],
  ])('has the reason of the second source: %s', async (notice, reason, detail) => {
    const { app } = await startApp(
      { status: fxTombstone(id, 'unavailable') },
      syndicationTombstone(notice),
    );

    const reply = await app.request(url);

    expect(reply.statusCode).toBe(404);
    const problem = reply.json();
    expect(problem).toMatchObject({ code: 'not_found', unavailable: { reason } });
    expect(problem.detail).toMatch(detail);
    expect(problem.unavailable.detail).toBe(problem.detail);
  });

  it('has the reason in the notice that the first source passes on', async () => {
    const message = 'Age-restricted adult content. This content might not be appropriate.';
    const { app, embeds } = await startApp(
      { status: { ...fxTombstone(id, 'unavailable'), message } },
      {},
    );

    const reply = await app.request(url);

    expect(reply.json().unavailable.reason).toBe('age_restricted');
    expect(embeds.requests).toEqual([]);
  });

  it('is unavailable for an unknown reason if the second source fails', async () => {
    const { app } = await startApp({ status: fxTombstone(id, 'unavailable') }, {}, 500);

    const reply = await app.request(url);

    expect(reply.statusCode).toBe(404);
    expect(reply.json().unavailable.reason).toBe('unknown');
  });

  it('is shown if the second source shows it', async () => {
    const { app } = await startApp({ status: fxTombstone(id, 'unavailable') }, syndicationPost(id));

    const reply = await app.request(url);

    expect([reply.statusCode, reply.json().source]).toEqual([200, 'syndication']);
  });

  it('has its reason as a quoted post, in JSON and as a sentence', async () => {
    const quote = { ...fxTombstone('5', 'unavailable'), message: 'Age-restricted adult content.' };
    const fx = await upstream((_request, response) =>
      answerJson(response, fxBody(fxStatus(id, { quote }))),
    );
    const app = await buildTestApp({ env: { PERCH_FXTWITTER_URL: fx.url } });

    const json = (await app.request(`${url}&thread=off`)).json();
    const markdown = await app.request(url.replace('format=json', 'format=markdown&thread=off'));

    const { detail } = json.posts[0].quote.unavailable;
    expect(json.posts[0].quote).toMatchObject({
      type: 'tombstone',
      reason: 'unavailable',
      unavailable: { reason: 'age_restricted' },
      text: detail,
    });
    expect(markdown.body).toContain(detail);
  });
});
