import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { callTool } from '../support/mcp.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const id = '1900000000000000001';
const warning = 'The author of this post is @ada.example, not @otto.example.';

describe('a post that is requested with the handle of another account', () => {
  it.each([
    `/otto.example/status/${id}`,
    `/api/v1/posts?handle=Otto.example&id=${id}`,
    `/api/v1/posts?url=http://localhost:8080/otto.example/status/${id}`,
  ])('is the post of its author, with a warning: %s', async (url) => {
    const app = await buildTestApp();

    const reply = await app.request(url, { headers: { accept: 'application/json' } });

    const { warnings, url: canonical } = reply.json();
    expect(reply.statusCode).toBe(200);
    expect(canonical).toBe(`http://localhost:8080/ada.example/status/${id}`);
    expect(warnings).toEqual([warning]);
    expect((await app.request(url)).body).toContain(warning);
  });

  it('has the warning in the result of a tool', async () => {
    const app = await buildTestApp();

    const args = { handle: 'otto.example', id };

    const reply = await callTool(app, 'get_post', { arguments: args });

    expect(reply.json().result.content[0].text).toContain(warning);
  });

  it('changes no reply to a request with the right handle, regardless of the cache', async () => {
    const app = await buildTestApp();
    const warningsOf = async (handle: string) =>
      (await app.request(`/${handle}/status/${id}?format=json`)).json().warnings;

    const all = [];
    for (const handle of ['ada.example', 'otto.example', 'Ada.example', 'otto.example']) {
      all.push(await warningsOf(handle));
    }

    expect(all).toEqual([[], [warning], [], [warning]]);
  });

  it('is a mild warning on X, where handles change, and none without a handle', async () => {
    const x = createStubProvider('x', async () => stubFound(stubPost('21')));
    const app = await buildTestApp({ providers: [x] });
    const warningsOf = async (path: string) =>
      (await app.request(`${path}?format=json`)).json().warnings;

    expect(await warningsOf('/wren/status/21')).toEqual([]);
    expect(await warningsOf('/i/web/status/21')).toEqual([]);
    expect(await warningsOf('/i/status/21')).toEqual([]);
    expect(await warningsOf('/robin/status/21')).toEqual([
      'The author of this post is @wren, not @robin. The account may have changed its handle.',
    ]);
  });
});
