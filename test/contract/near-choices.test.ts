import { describe, expect, it } from 'vitest';
import { shareTestApp } from '../support/build-app.ts';
import { eras, sendMcp } from '../support/mcp.ts';

const app = shareTestApp();
const post = '/api/v1/posts?handle=ada.example&id=1900000000000000001';
const search = '/api/v1/search?q=heron';
const ada = '/api/v1/profiles/ada.example';

const nears: readonly (readonly [url: string, choice: string])[] = [
  [`${search}&platform=Tweets`, 'x'],
  [`${search}&platform=bsky.app`, 'bluesky'],
  [`${search}&platform=blusky`, 'bluesky'],
  [`${search}&platform=fedi`, 'mastodon'],
  [`${search}&platform=mastodn`, 'mastodon'],
  [`${search}&feed=image`, 'photos'],
  [`${search}&feed=vidoes`, 'videos'],
  [`${search}&feed=people`, 'users'],
  [`${search}&feed=popular`, 'top'],
  [`${search}&feed=newest`, 'latest'],
  [`${post}&format=txt`, 'markdown'],
  [`${post}&format=yml`, 'obsidian'],
  [`${post}&format=HTM`, 'html'],
  [`${post}&format=application/json`, 'json'],
  [`${post}&format=application/atom%2Bxml`, 'atom'],
  [`${post}&format=application/atom+xml`, 'atom'],
  [`${post}&format=jsonl`, 'json'],
  [`${post}&replies=no`, 'off'],
  [`${post}&replies=newest`, 'recent'],
  [`${post}&userinfo=false`, 'off'],
  [`${post}&context=all`, 'full'],
  [`${post}&thread=1`, 'off'],
  [`${post}&thread=everything`, 'full'],
  [`${post}&thread=convresation`, 'conversation'],
  [`${post}&full=on`, 'true'],
  [`${ada}?include_posts=none`, 'false'],
  [`${ada}/posts?format=jsonlines`, 'ndjson'],
  [`${ada}/posts?format=xml`, 'rss'],
  [`${ada}/followers?format=text`, 'markdown'],
  ['/api/browse?resource=timeline&handle=ada.example', 'profile'],
  ['/search?q=heron&platform=masto', 'mastodon'],
];

describe('an unknown value of a parameter with a list of values', () => {
  it.each(nears)('is answered with the value that is meant: %s', async (url, choice) => {
    const { status, detail } = (await app.request(url)).json();

    expect(status).toBe(400);
    expect(detail).toMatch(/ It must be .+\. Did you mean `\w+`\?$/);
    expect(detail).toContain(`Did you mean \`${choice}\`?`);
  });

  it.each([
    `${search}&platform=friendster`,
    `${search}&feed=`,
    `${ada}/followers?format=xml`,
    `${post}&format=pdf`,
    `${post}&format=${'markdown'.repeat(20)}`,
    `${post}&thread=500`,
    `${ada}?limit=ten`,
  ])('is answered without a suggestion if no value is similar: %s', async (url) => {
    const { status, detail } = (await app.request(url)).json();

    expect(status).toBe(400);
    expect(detail).not.toContain('Did you mean');
  });

  it.each(eras)('is answered with the value that is meant in a tool call: %s', async (era) => {
    const params = { name: 'search', arguments: { q: 'heron', platform: 'mastdon' } };

    const { result } = (await sendMcp(app, era, { method: 'tools/call', params })).json();

    expect(result.content[0].text).toContain('Did you mean `mastodon`?');
  });
});
