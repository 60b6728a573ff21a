import { describe, expect, it } from 'vitest';
import { allReads } from '../../src/reads/index.ts';
import { isOfOtherRead } from '../../src/reads/misspelt.ts';
import { buildTestApp } from '../support/build-app.ts';
import { callTool } from '../support/mcp.ts';

const post = '/api/v1/posts?handle=ada.example&id=1900000000000000001';

describe('a parameter that only other reads have', () => {
  it.each([
    [`${post}&page=2`, '/api/v1/posts/{id}/replies'],
    [`${post}&limit=5`, '`thread` limits the posts of the thread'],
    [`${post}&feed=top`, 'it applies to searches'],
    ['/ada.example/status/1900000000000000001?with_replies=1', 'profiles and histories'],
    ['/api/v1/profiles/ada.example?since=2026-01-01', '/api/v1/profiles/{handle}/posts'],
    ['/api/v1/profiles/ada.example?max_posts=5', 'use `limit`'],
    ['/api/v1/profiles/ada.example?replies=off', 'use `with_replies`'],
    ['/ada.example/followers?until=2026-01-01', 'profiles, searches and histories'],
    ['/api/v1/search?q=heron&platform=sample&handle=ada.example', 'write `from:`'],
    ['/ada.example/posts?limit=5', 'use `max_posts`'],
  ])('is ignored, and the warning names what to use: %s', async (url, advice) => {
    const app = await buildTestApp();

    const reply = await app.request(`${url}${url.includes('?') ? '&' : '?'}format=json`);

    const { warnings } = reply.json();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^The parameter `\w+` does not apply here and was ignored; .+\.$/);
    expect(warnings[0]).toContain(advice);
  });

  it('is named once in the result of a tool', async () => {
    const app = await buildTestApp();

    const args = { handle: 'ada.example', thread: 'off' };

    const reply = await callTool(app, 'list_followers', { arguments: args });

    const content = JSON.stringify(reply.json().result.content);
    expect(content.match(/does not apply here/g)).toHaveLength(1);
    expect(content).not.toContain('Ignored:');
  });

  it('is known, whatever read it belongs to', () => {
    const names = Object.values(allReads).flatMap(({ params }) => Object.keys(params.shape));

    expect(names.filter((name) => !isOfOtherRead(name))).toEqual(
      names.filter((name) => ['format', 'nocache'].includes(name)),
    );
  });
});
