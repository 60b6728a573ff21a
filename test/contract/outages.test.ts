import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { buildTestApp } from '../support/build-app.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { parsePage } from '../support/render-html.ts';
import { runHere } from '../support/run-here.ts';
import { createStubProvider } from '../support/stub-provider.ts';

/** Settings with sources at a port that refuses connections. */
const offline = {
  PERCH_FXTWITTER_URL: 'http://127.0.0.1:1',
  PERCH_SYNDICATION_URL: 'http://127.0.0.1:1',
  PERCH_BLUESKY_URL: 'http://127.0.0.1:1',
  PERCH_BLUESKY_SEARCH_URL: 'http://127.0.0.1:1',
};
const noFxTwitter = 'No connection to `fxtwitter` or `syndication` is possible';

describe('a read without a network', () => {
  it.each([
    [
      '/wren/status/21',
      'X cannot be read at the moment. No connection to `fxtwitter` or `syndication`',
    ],
    ['/api/v1/profiles/wren', 'X cannot be read at the moment. No connection to `fxtwitter` is'],
    ['/api/v1/search?q=fog&platform=x', 'X cannot be read at the moment. No connection to'],
    ['/mira.bsky.social', 'Bluesky cannot be read at the moment. No connection to `bluesky` is'],
  ])('names the platform, the missing network and the sample: %s', async (url, text) => {
    const app = await buildTestApp({ env: offline });

    const reply = await app.request(url);

    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '30']);
    const { code, detail, resolution } = reply.json();
    expect(code).toBe('upstream_unavailable');
    expect(detail).toContain(text);
    expect(detail).toContain('so there is probably no network.');
    expect(resolution).toMatch(
      / You can still read the sample, such as the account `ada.example`\.$/,
    );
    expect(reply.body).not.toContain('127.0.0.1');
  });

  it('still names the missing network while the providers are paused', async () => {
    const app = await buildTestApp({ env: { ...offline, PERCH_BREAKER_FAILURES: '1' } });
    await app.request('/wren/status/21');

    const { detail } = (await app.request('/wren/status/22')).json();

    expect(detail).toContain(noFxTwitter);
  });

  it('names the sample in the page too', async () => {
    const app = await buildTestApp({ env: offline });

    const { body } = await app.request('/wren/status/21?format=html');

    const { text } = parsePage(body);
    expect(text).toContain('Try again in 30 seconds.');
    expect(text).toContain('You can still read the sample, such as the account ada.example.');
  });

  it('names nothing that is turned off', async () => {
    const app = await buildTestApp({ env: { ...offline, PERCH_SAMPLE: 'false' } });

    const { resolution } = (await app.request('/wren/status/21')).json();

    expect(resolution).toBe('Retry after the number of seconds in `Retry-After`.');
  });

  it('does not name the server of an account as missing or private', async () => {
    const app = await buildTestApp();

    const { detail } = (await app.request('/api/v1/profiles/wren@nowhere.invalid.dev')).json();

    expect(detail).toBe(
      'Mastodon cannot be read at the moment. The server of this account could not be reached. Check the name of the server, and whether there is a network.',
    );
  });

  it('is no explanation for stored posts that cannot be read', async () => {
    const stub = createStubProvider('archive', async () => {
      throw new ProviderError('unavailable', 'It took too long.', { isProviderWide: false });
    });
    const app = await buildTestApp({ providers: [{ ...stub, isLocal: true }] });

    const { detail } = (await app.request('/wren/status/21')).json();

    expect(detail).toBe('X cannot be read at the moment. It took too long.');
  });

  it.each([
    [['read', 'https://x.com/wren/status/21'], noFxTwitter],
    [['search', 'fog', '--platform', 'x'], 'No connection to `fxtwitter` is possible'],
  ])('is explained on the command line: %j', async (args, text) => {
    const { code, stdout, stderr } = await runHere(args, {
      ...offline,
      PERCH_DATA_DIR: ':memory:',
    });

    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`perch: X cannot be read at the moment. ${text}`);
    expect(stderr).toContain(
      'Retry in 30 seconds. You can still read the sample, such as the account `ada.example`.',
    );
  });
});

describe('a read whose source fails', () => {
  const broken = (name: 'x' | 'bluesky', isDown: boolean) => ({
    name,
    platforms: [name],
    reads: new Set(['profile' as const]),
    covers: (query: object) => 'account' in query && JSON.stringify(query).includes(`"${name}"`),
    fetch: {
      profile: async () => {
        if (!isDown) throw new ProviderError('missing', 'There is no such account.');
        throw new ProviderError('unavailable', 'The source is failing at the moment.');
      },
    },
  });

  it('names the platform, the failure, and another platform that answers', async () => {
    const app = await buildTestApp({ providers: [broken('x', true), broken('bluesky', false)] });
    await app.request('/mira.bsky.social?include_posts=false');

    const { detail, resolution } = (await app.request('/wren?include_posts=false')).json();

    expect(detail).toBe('X cannot be read at the moment. The source is failing at the moment.');
    expect(resolution).toContain('You can still read Bluesky.');
  });

  it('does not name a platform that has not answered for a minute', async () => {
    const clock = createManualClock();
    const providers = [broken('x', true), broken('bluesky', false)];
    const app = await buildTestApp({ providers, clock });
    await app.request('/mira.bsky.social?include_posts=false');
    await clock.advance(61_000);

    const { resolution } = (await app.request('/wren?include_posts=false')).json();

    expect(resolution).not.toContain('Bluesky');
  });
});
