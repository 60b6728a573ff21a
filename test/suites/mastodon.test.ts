import { describe, expect, it } from 'vitest';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import {
  answerHtml,
  answerJson,
  answerRedirect,
  answerText,
  type FakeHandler,
} from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  accountRow,
  homeHost,
  imageRow,
  snowflake,
  statusRow,
} from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { listSuite } from './list-suite.ts';
import { askProvider, failureOf, providerSuite, type Rig, withProvider } from './provider-suite.ts';

const id = snowflake(Date.UTC(2026, 0, 1));
const profileOf = (handle: string) =>
  ({ kind: 'profile', account: { platform: 'mastodon', handle } }) as const;
const postOf = (handle: string) =>
  ({
    kind: 'post',
    post: { platform: 'mastodon', handle, id },
    thread: false,
    replies: 'off',
  }) as const;

const statusAnswer =
  (status: number, body: unknown = { error: 'No' }): FakeHandler =>
  (_, response) =>
    answerJson(response, body, { status });
const page =
  (status: number): FakeHandler =>
  (_, response) =>
    answerHtml(response, { status });

type Hosts = Readonly<Record<string, FakeHandler>>;

const withHosts = <T>(hosts: Hosts, run: (rig: Rig) => Promise<T>) =>
  withProvider(createFakedMastodon, { handler: serveHosts(hosts) }, run);

const handle = `wren@${homeHost}`;

describe('a server of Mastodon', () => {
  it.each([
    [401, 'unavailable', 'requires a login for reading'],
    [403, 'unavailable', 'refuses requests from this server'],
    [404, 'missing', 'no such post'],
    [410, 'missing', 'suspended'],
    [418, 'malformed', 'Perch cannot read'],
    [422, 'unavailable', 'requires a login for this'],
    [503, 'unavailable', 'failing at the moment'],
  ])('that answers %i is %s, and no other server is asked', async (status, kind, words) => {
    await withHosts({ [homeHost]: statusAnswer(status) }, async ({ provider }) => {
      const failure = await failureOf(askProvider(provider, postOf(handle)));

      expect([failure.kind, failure.isProviderWide]).toEqual([kind, kind === 'missing']);
      expect(failure.message).toContain(words);
    });
  });

  it.each([
    [403, 'unavailable'],
    [404, 'unavailable'],
    [410, 'unavailable'],
    [200, 'malformed'],
  ])('that answers %i with an HTML page is not taken for an absence', async (status, kind) => {
    await withHosts({ [homeHost]: page(status) }, async ({ provider }) => {
      for (const query of [postOf(handle), profileOf(handle)]) {
        const failure = await failureOf(askProvider(provider, query));

        expect([failure.kind, failure.isProviderWide]).toEqual([kind, false]);
      }
    });
  });

  it.each([
    [{ 'x-ratelimit-reset': '2026-11-21T00:01:40.000000Z' }, 100],
    [{ 'x-ratelimit-reset': '2026-11-22T00:00:00Z' }, 300],
    [{ 'x-ratelimit-reset': '2026-11-20T00:00:00Z' }, 1],
    [{ 'x-ratelimit-reset': 'soon' }, 30],
    [{ 'retry-after': '7' }, 7],
    [{}, 30],
  ])(
    'that throttles with %j is not called for %i seconds, while others are',
    async (headers, seconds) => {
      const clock = createManualClock();
      const other = createFakeMastodon('kelp.example.net');
      other.addAccount(accountRow('kelp'));
      const handler = serveHosts({
        [homeHost]: (_, response) =>
          answerJson(
            response,
            { error: 'Too many requests' },
            { status: 429, headers: headers as Record<string, string> },
          ),
        'kelp.example.net': other.handler,
      });
      await withProvider(
        createFakedMastodon,
        { handler, clock },
        async ({ provider, upstream }) => {
          const ask = () => failureOf(askProvider(provider, profileOf(handle)));

          expect(await ask()).toMatchObject({
            kind: 'throttled',
            retryAfterSeconds: seconds,
            isProviderWide: false,
          });
          await clock.advance(seconds * 1000 - 1);
          expect(await ask()).toMatchObject({ kind: 'throttled', retryAfterSeconds: 1 });
          await askProvider(provider, profileOf('kelp@kelp.example.net'));
          expect(upstream.requests).toHaveLength(2);
          await clock.advance(1);
          await ask();
          expect(upstream.requests).toHaveLength(3);
        },
      );
    },
  );
});

describe('a server that does not run Mastodon', () => {
  it('is not taken for an absence if its JSON 404 has another form', async () => {
    const handler = statusAnswer(404, { message: 'Not found' });
    await withHosts({ [homeHost]: handler }, async ({ provider }) => {
      const failure = await failureOf(askProvider(provider, postOf(handle)));

      expect(failure.kind).toBe('unavailable');
      expect(failure.message).toContain('does not have the API of Mastodon');
    });
  });
});

describe('a handle whose domain differs from the host of its server', () => {
  const social = createFakeMastodon('social.otter.example.net');
  const otter = accountRow('otter', { url: 'https://social.otter.example.net/@otter' });
  social.addAccount(otter);
  social.addStatus(statusRow(id, otter, { url: `https://social.otter.example.net/@otter/${id}` }));
  social.addAccount(accountRow('kelp@kelp.example.net'));
  /** The server also accepts the domain for its own accounts. */
  const socialHandler: FakeHandler = (request, response) => {
    request.url = request.url?.replace('otter%40otter.example.net', 'otter');
    social.handler(request, response);
  };
  const known = 'otter@otter.example.net';

  const fingerTo =
    (href: string, type = 'application/jrd+json'): FakeHandler =>
    (request, response) => {
      const body = {
        subject: `acct:${known}`,
        links: [
          { rel: 'http://webfinger.net/rel/profile-page', href },
          { rel: 'self', type: 'application/activity+json', href },
          { rel: 'http://ostatus.org/schema/1.0/subscribe', template: 'x' },
        ],
      };
      if (!request.url?.startsWith('/.well-known/webfinger')) answerHtml(response, { status: 404 });
      else answerText(response, { type, text: JSON.stringify(body) });
    };

  it.each([
    ['WebFinger', fingerTo('https://social.otter.example.net/users/otter')],
    [
      'a redirect of WebFinger',
      (request, response) => {
        if (!request.url?.startsWith('/.well-known/')) answerHtml(response, { status: 404 });
        else answerRedirect(response, `https://social.otter.example.net${request.url}`);
      },
    ],
    [
      'a redirect of all paths',
      (request, response) =>
        answerRedirect(response, `https://social.otter.example.net${request.url}`),
    ],
  ] satisfies readonly (readonly [string, FakeHandler])[])(
    'is read from where %s leads, and keeps its domain',
    async (_name, handler) => {
      const hosts = { 'otter.example.net': handler, 'social.otter.example.net': socialHandler };
      await withHosts(hosts, async ({ provider, upstream }) => {
        const { account } = await askProvider(provider, profileOf(known));
        const { post } = await askProvider(provider, postOf(known));
        const asked = upstream.requests.length;
        await askProvider(provider, postOf(known));

        expect(account.screen_name).toBe(known);
        expect(post).toMatchObject({ id, author: { screen_name: known } });
        expect(upstream.requests).toHaveLength(asked + 1);
        expect(upstream.requests.at(-1)?.url).toMatch(/^\/social\.otter\.example\.net\//);
      });
    },
  );

  it.each([
    'http://social.otter.example.net/users/otter',
    'https://social.otter.example.net:8443/users/otter',
    'https://127.0.0.1/users/otter',
    'https://[::1]/users/otter',
    'https://localhost/users/otter',
    'https://intranet/users/otter',
    'https://printer.local/users/otter',
    'https://user:secret@social.otter.example.net/users/otter',
    'https://otter.example.net/users/otter',
    'not an address',
  ])('is not followed to %s', async (href) => {
    for (const handler of [
      fingerTo(href),
      ((_, response) => answerRedirect(response, href)) satisfies FakeHandler,
    ]) {
      await withHosts({ 'otter.example.net': handler }, async ({ provider, upstream }) => {
        const failure = await failureOf(askProvider(provider, profileOf(known)));

        expect(['unavailable', 'malformed']).toContain(failure.kind);
        const hosts = upstream.requests.map(({ url }) => url.split('/')[1]);
        expect(new Set(hosts)).toEqual(new Set(['otter.example.net']));
      });
    }
  });

  it('is not accepted from a server that does not list the account as its own', async () => {
    const hosts = {
      'evil.example.org': fingerTo('https://social.otter.example.net/users/kelp'),
      'social.otter.example.net': social.handler,
    };
    await withHosts(hosts, async ({ provider }) => {
      for (const name of ['otter@evil.example.org', 'kelp@evil.example.org']) {
        for (const query of [profileOf(name), postOf(name)]) {
          expect((await failureOf(askProvider(provider, query))).kind).toBe('unavailable');
        }
      }
    });
  });

  it('is followed for one redirect only', async () => {
    const hosts = {
      'otter.example.net': fingerTo('https://second.example.net/users/otter'),
      'second.example.net': fingerTo('https://social.otter.example.net/users/otter'),
      'social.otter.example.net': socialHandler,
    };
    await withHosts(hosts, async ({ provider, upstream }) => {
      expect((await failureOf(askProvider(provider, profileOf(known)))).kind).toBe('unavailable');
      const asked = upstream.requests.map(({ url }) => url.split('/')[1]);
      expect(asked).toEqual(['otter.example.net', 'otter.example.net', 'second.example.net']);
    });
  });
});

const create = createFakedMastodon;

const startMs = Date.UTC(2026, 0, 1);
const idAt = (minutes: number) => snowflake(startMs + minutes * 60_000);

const wren = accountRow('wren');
const kelp = accountRow('kelp@kelp.example.net');
const server = createFakeMastodon();
for (const account of [wren, kelp, accountRow('wrenna')]) server.addAccount(account);
server.follow(kelp, wren);
server.follow(wren, kelp);
const tags = [{ name: 'tides', url: `https://${homeHost}/tags/tides` }];
for (let at = 0; at < 50; at += 1) {
  server.addStatus(
    statusRow(idAt(at), wren, {
      tags: at % 2 === 0 ? tags : [],
      media_attachments: at % 4 === 0 ? [imageRow(`picture-${at}`)] : [],
    }),
  );
}
server.addStatus(
  statusRow(idAt(60), kelp, { in_reply_to_id: idAt(49), in_reply_to_account_id: wren.id }),
);
server.addStatus(
  statusRow(idAt(61), wren, { in_reply_to_id: idAt(60), in_reply_to_account_id: kelp.id }),
);
server.addStatus(
  statusRow(idAt(62), wren, { in_reply_to_id: idAt(49), in_reply_to_account_id: wren.id }),
);
server.addStatus(statusRow(idAt(63), wren, { content: '', reblog: statusRow(idAt(5), kelp) }));

const healthy = serveHosts({ [homeHost]: server.handler });
const absent: FakeHandler = (_, response) =>
  answerJson(response, { error: 'Record not found' }, { status: 404 });

const post = { platform: 'mastodon', handle: `wren@${homeHost}`, id: idAt(49) } as const;
const account = { platform: 'mastodon', handle: `wren@${homeHost}` } as const;
const start = { cursor: null, count: 20 } as const;

providerSuite('mastodon', { create, post, healthy, absent });

listSuite('mastodon', {
  create,
  healthy,
  absent,
  queries: [
    { kind: 'profile', account },
    {
      kind: 'timeline',
      account,
      withReplies: true,
      withReposts: true,
      untilSeconds: null,
      ...start,
    },
    { kind: 'followers', account, ...start },
    { kind: 'following', account, ...start },
    {
      kind: 'search',
      platform: 'mastodon',
      text: '#tides',
      feed: 'latest',
      sinceSeconds: null,
      untilSeconds: null,
      ...start,
    },
    { kind: 'searchUsers', platform: 'mastodon', text: 'wren', ...start },
  ],
  elsewhere: [
    { kind: 'profile', account: { platform: 'x', handle: 'wren' } },
    { kind: 'searchUsers', platform: 'bluesky', text: 'wren', ...start },
  ],
});
