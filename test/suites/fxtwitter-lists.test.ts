import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { toAccount } from '../../src/model/account.ts';
import type {
  Answers,
  ConnectionsQuery,
  ProfileQuery,
  Query,
  QueryKind,
  SearchQuery,
  TimelineQuery,
  UserSearchQuery,
} from '../../src/model/queries.ts';
import type { ProviderError } from '../../src/normalize/provider-error.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { cursorBefore, writeTimelineCursor } from '../../src/providers/fxtwitter/lists/timeline.ts';
import type { ProviderContext } from '../../src/providers/provider.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  type FxRoutes,
  fxListRoutes,
  fxMedia,
  fxNoUser,
  fxPage,
  fxPages,
  fxProfile,
  fxReply,
  fxStatus,
  fxSuggestedUser,
  fxSuggestions,
  fxTombstone,
  fxUser,
  parametersOf,
  secondsOf,
  serveFxTwitter,
} from '../support/x-payloads.ts';
import { type ListQuery, listSuite } from './list-suite.ts';
import {
  askProvider,
  expectTellable,
  failureOf,
  failWith,
  withProvider,
} from './provider-suite.ts';

const account = { platform: 'x', handle: 'mira_holm' } as const;
const first = { cursor: null, count: 20 } as const;
const anyTime = { sinceSeconds: null, untilSeconds: null } as const;

function queriesOf(of: typeof account | { platform: 'sample'; handle: string }): ListQuery[] {
  const platform = of.platform === 'x' ? 'x' : 'archive';
  return [
    { kind: 'profile', account: of },
    {
      kind: 'timeline',
      account: of,
      withReplies: true,
      withReposts: true,
      untilSeconds: null,
      ...first,
    },
    { kind: 'followers', account: of, ...first },
    { kind: 'following', account: of, ...first },
    { kind: 'search', platform, text: 'heron', feed: 'latest', ...anyTime, ...first },
    { kind: 'searchUsers', platform, text: 'heron', ...first },
  ];
}

listSuite('fxtwitter', {
  create: createFxTwitter,
  healthy: serveFxTwitter(fxListRoutes),
  queries: queriesOf(account),
  elsewhere: queriesOf({ platform: 'sample', handle: 'ada.example' }),
  absent: serveFxTwitter({}),
});

const now = Date.UTC(2026, 10, 21);
const signal = new AbortController().signal;
const statuses = 'profile/mira_holm/statuses';

interface AskOptions {
  readonly clock?: Clock;
  readonly onThrottled?: ProviderContext['onThrottled'];
}

async function read<Kind extends QueryKind>(
  routes: FxRoutes,
  query: Answers[Kind]['query'] & { readonly kind: Kind },
  { clock = createManualClock(now) }: AskOptions = {},
) {
  const handler = serveFxTwitter(routes);
  return withProvider(createFxTwitter, { handler, clock }, async ({ provider, upstream }) => {
    const found = await askProvider<Kind>(provider, query, { signal });
    return { found, paths: upstream.requests.map(({ url }) => url) };
  });
}

async function fail(routes: FxRoutes, query: Query, options: AskOptions = {}) {
  const { clock = createManualClock(now), onThrottled } = options;
  const handler = serveFxTwitter(routes);
  return withProvider(createFxTwitter, { handler, clock }, async ({ provider, upstream }) => {
    const context = onThrottled === undefined ? { signal } : { signal, onThrottled };
    const failure = await failureOf(askProvider(provider, query, context));
    expectTellable(failure, upstream);
    return { failure, paths: upstream.requests.map(({ url }) => url) };
  });
}

/** The members that are public for a protected account. */
const protectedShop = toAccount({
  id: '7',
  screen_name: 'shop',
  name: 'shop',
  url: 'https://x.com/shop',
  protected: true,
  platform: 'x',
});

const kindOf = async (routes: FxRoutes, query: Query) => (await fail(routes, query)).failure.kind;

function answer(status: number, body: unknown): FakeHandler {
  return (_, response) =>
    typeof body === 'string'
      ? answerHtml(response, { status })
      : answerJson(response, body, { status });
}

function idsOf(rows: readonly { readonly id: string | null }[]) {
  return rows.map(({ id }) => id);
}

const down: FakeHandler = (_, response) => answerHtml(response, { status: 500 });
const busy: FakeHandler = (_, response) =>
  answerHtml(response, { status: 429, headers: { 'retry-after': '17' } });
const suspended = answer(404, {
  code: 404,
  message: 'User is suspended',
  reason: 'suspended',
  id: '7',
});
const profilePath = 'profile/mira_holm';
const guarded = fxProfile(fxUser('mira_holm', { protected: true }));
const controlUp = { 'profile/x': fxProfile(fxUser('x')) } as const;

const profile = { kind: 'profile', account } as const;

function timeline(fields: Partial<TimelineQuery> = {}): TimelineQuery {
  return {
    kind: 'timeline',
    account,
    withReplies: false,
    withReposts: true,
    untilSeconds: null,
    ...first,
    ...fields,
  };
}

function connections(fields: Partial<ConnectionsQuery> = {}): ConnectionsQuery {
  return { kind: 'followers', account, ...first, ...fields };
}

function search(fields: Partial<SearchQuery> = {}): SearchQuery {
  return {
    kind: 'search',
    platform: 'x',
    text: 'heron',
    feed: 'latest',
    ...anyTime,
    ...first,
    ...fields,
  };
}

function users(text = 'heron'): UserSearchQuery {
  return { kind: 'searchUsers', platform: 'x', text, ...first };
}

describe('a profile', () => {
  it('takes one request', async () => {
    const { found, paths } = await read(fxListRoutes, profile);

    expect(found.account).toMatchObject({ screen_name: 'mira_holm', statuses: 45, platform: 'x' });
    expect(found.warnings).toEqual([]);
    expect(paths).toEqual(['/2/profile/mira_holm']);
  });

  it('is also read from a v1 body', async () => {
    const { type, statuses: written, ...user } = fxUser('mira_holm');
    const v1 = { code: 200, message: 'OK', user: { ...user, tweets: written } };

    const { found } = await read({ 'profile/mira_holm': v1 }, profile);

    expect(found.account).toMatchObject({ screen_name: 'mira_holm', statuses: 45 });
  });

  it.each([
    ['protected', guarded, /protected/],
    ['suspended', suspended, /suspended/],
  ])('that is %s is missing, without a control request', async (_title, route, sentence) => {
    const { failure, paths } = await fail({ 'profile/mira_holm': route }, profile);

    expect(failure).toMatchObject({ kind: 'missing', message: expect.stringMatching(sentence) });
    expect(paths).toHaveLength(1);
  });

  it.each([
    [200, { code: 200, message: 'OK' }, 'malformed'],
    [200, { code: 200, user: { id: 7 } }, 'malformed'],
    [200, { code: 404, message: 'User not found' }, 'ambiguous'],
    [200, { code: 500, message: 'Oh' }, 'unavailable'],
    [404, { code: 404, message: 'Not found' }, 'malformed'],
    [404, {}, 'malformed'],
    [404, '<html>', 'malformed'],
    [401, { error: 'You must identify yourself' }, 'malformed'],
    [400, { code: 400, message: 'handle: no' }, 'malformed'],
    [403, '<html>', 'throttled'],
    [204, '', 'malformed'],
  ])('with status %i and %o is %s', async (status, body, kind) => {
    expect(await kindOf({ 'profile/mira_holm': answer(status, body) }, profile)).toBe(kind);
  });
});

describe('an account that is not found', () => {
  it('is missing if a well-known account is found', async () => {
    const { failure, paths } = await fail(controlUp, profile);

    expect(failure).toMatchObject({ kind: 'missing', message: 'There is no such account.' });
    expect(paths).toEqual(['/2/profile/mira_holm', '/2/profile/x']);
  });

  it.each([
    ['is not found either', {}],
    ['fails', { 'profile/x': down }],
    ['is malformed', { 'profile/x': answer(200, []) }],
  ] as const)('is ambiguous if the well-known account %s', async (_title, routes) => {
    expect(await kindOf(routes, profile)).toBe('ambiguous');
  });

  it('is reported as throttled if the request for the well-known account is throttled', async () => {
    const throttled: ProviderError[] = [];

    const { failure } = await fail({ 'profile/x': busy }, profile, {
      onThrottled: (error) => void throttled.push(error),
    });

    expect(failure).toMatchObject({ kind: 'throttled', retryAfterSeconds: 17 });
    expect(throttled).toEqual([failure]);
  });

  it('is compared with another account if it is the well-known one', async () => {
    const asked = { ...profile, account: { platform: 'x', handle: 'x' } } as const;

    const { failure, paths } = await fail(
      { 'profile/xdevelopers': fxProfile(fxUser('xdevelopers')) },
      asked,
    );

    expect(failure.kind).toBe('missing');
    expect(paths).toEqual(['/2/profile/x', '/2/profile/xdevelopers']);
  });

  async function failAfter(ms: number, before: ProfileQuery['account']) {
    const clock = createManualClock(now);
    let gone = false;
    const handler = serveFxTwitter({
      'profile/otto_lind': fxProfile(fxUser('otto_lind')),
      'profile/x': (_, response) => {
        if (gone) answerJson(response, fxNoUser, { status: 404 });
        else answerJson(response, fxProfile(fxUser('x')));
      },
    });
    return withProvider(createFxTwitter, { handler, clock }, async ({ provider, upstream }) => {
      await askProvider(provider, { kind: 'profile', account: before }).catch(() => {});
      gone = true;
      await clock.advance(ms);
      const { kind } = await failureOf(askProvider(provider, profile));
      return { kind, requests: upstream.requests.length };
    });
  }

  it.each([
    ['a profile', 'otto_lind', 2],
    ['the control', 'nobody', 3],
  ])('is `missing` for 60 s after %s was read', async (_title, handle, requests) => {
    const before = { platform: 'x', handle } as const;

    expect(await failAfter(60_000, before)).toEqual({ kind: 'missing', requests });
    expect(await failAfter(60_001, before)).toEqual({ kind: 'ambiguous', requests: requests + 1 });
  });

  it('is abandoned when its caller disconnects, while the control request continues for others', async () => {
    const leaving = new AbortController();
    let release: (() => void) | undefined;
    const handler = serveFxTwitter({
      'profile/x': (_, response) => {
        release = () => answerJson(response, fxProfile(fxUser('x')));
        leaving.abort();
      },
    });
    await withProvider(createFxTwitter, { handler }, async ({ provider }) => {
      const left = failureOf(askProvider(provider, profile, { signal: leaving.signal }));
      expect((await left).kind).toBe('unavailable');

      const staying = failureOf(askProvider(provider, profile));
      release?.();
      expect((await staying).kind).toBe('missing');
    });
  });
});

describe('a missing list', () => {
  const lists = [timeline(), connections(), connections({ kind: 'following' })] as const;

  const own = fxProfile(fxUser('mira_holm'));
  const ownRead = '/2/profile/mira_holm';

  it.each([
    ['unavailable if the account exists', { [profilePath]: own }, 'unavailable', [ownRead]],
    ['unavailable if the source fails itself', { [profilePath]: down }, 'unavailable', [ownRead]],
    ['missing if the account is protected', { [profilePath]: guarded }, 'missing', [ownRead]],
    ['missing if the account is suspended', { [profilePath]: suspended }, 'missing', [ownRead]],
    ['missing if only the control exists', controlUp, 'missing', [ownRead, '/2/profile/x']],
    ['ambiguous if neither account exists', {}, 'ambiguous', [ownRead, '/2/profile/x']],
  ] as const)('is %s', async (_title, routes, kind, expected) => {
    for (const query of lists) {
      const { failure, paths } = await fail(routes, query);

      expect(failure).toMatchObject({ kind, isProviderWide: !Object.values(routes).includes(own) });
      expect(paths.slice(1)).toEqual(expected);
    }
  });

  it.each([
    [200, { code: 404, results: [] }, 'ambiguous'],
    [500, { code: 500, results: [] }, 'unavailable'],
    [404, { code: 404, message: 'Not found' }, 'malformed'],
    [400, { code: 400, message: 'count: Too big' }, 'malformed'],
    [200, { code: 200, results: null }, 'malformed'],
    [200, { code: 200, results: {} }, 'malformed'],
  ])('with status %i and %o is %s', async (status, body, kind) => {
    for (const query of [timeline(), connections()]) {
      const path = query.kind === 'timeline' ? statuses : 'profile/mira_holm/followers';

      expect(await kindOf({ [path]: answer(status, body) }, query)).toBe(kind);
    }
  });

  it.each(lists)('of $kind is malformed if the body has no content', async (query) => {
    const handler: FakeHandler = (_, response) =>
      void response.writeHead(204, { 'content-type': 'application/json' }).end();

    expect((await failWith(createFxTwitter, handler, query)).kind).toBe('malformed');
  });
});

describe('a timeline', () => {
  const mixed = fxPage(
    [
      fxStatus('2009'),
      fxStatus('1500', { author: fxUser('tove_ek'), reposted_by: fxUser('Mira_Holm') }),
      fxReply('2008', '1400', 'MIRA_HOLM', {
        replying_to: { screen_name: 'otto_lind', status: '1400' },
      }),
      fxStatus('1400', { author: fxUser('otto_lind') }),
      fxStatus('1600', { author: fxUser('tove_ek'), reposted_by: fxUser('shop') }),
      fxReply('2007', '2006', 'mira_holm'),
      fxStatus('2009'),
      fxTombstone('2003', 'deleted'),
      { type: 'thread', conversation_id: '1', statuses: [] },
    ],
    'older',
  );

  it.each([
    [true, true, ['2009', '1500', '2008', '2007']],
    [false, true, ['2009', '1500', '2007']],
    [true, false, ['2009', '2008', '2007']],
    [false, false, ['2009', '2007']],
  ])('with replies %o and reposts %o is %o', async (withReplies, withReposts, expected) => {
    const { found } = await read({ [statuses]: mixed }, timeline({ withReplies, withReposts }));

    expect(idsOf(found.items)).toEqual(expected);
    expect(found).toMatchObject({ cursor: 'older', rows: 9 });
    expect(found.warnings).toEqual([
      '1 post is missing, because the source sent unreadable data for it.',
    ]);
  });

  it('keeps a post whose repost by its own author is excluded', async () => {
    const page = fxPage([fxStatus('2001', { reposted_by: fxUser('mira_holm') }), fxStatus('2001')]);

    const { found } = await read({ [statuses]: page }, timeline({ withReposts: false }));

    expect(found.items).toMatchObject([{ id: '2001', reposted_by: null }]);
  });

  it('omits posts and reposts of protected accounts', async () => {
    const author = fxUser('tove_ek', { protected: true });
    const page = fxPage([
      fxStatus('1500', { author, reposted_by: fxUser('mira_holm') }),
      fxStatus('1501', { reposted_by: fxUser('mira_holm', { protected: true }) }),
    ]);

    const { found } = await read({ [statuses]: page }, timeline());

    expect(found).toMatchObject({ items: [], rows: 2 });
  });

  it.each([
    ['count=20', timeline()],
    ['count=20', timeline({ count: 1 })],
    ['count=100', timeline({ count: 5000 })],
    ['count=33', timeline({ count: 33 })],
    ['count=100&with_replies=1', timeline({ count: 33, withReplies: true })],
    ['count=100', timeline({ count: 33, withReposts: false })],
    ['count=20&cursor=a%7Cb%26c%3D%C3%A9%EF%BF%BD', timeline({ cursor: 'a|b&c=é\ud800' })],
  ])('is requested with %s', async (parameters, query) => {
    const { paths } = await read({ [statuses]: fxPage([]) }, query);

    expect(paths).toEqual([`/2/profile/mira_holm/statuses?${parameters}`]);
  });

  it('of posts with media is the media list of X, without constructed cursors', async () => {
    const page = fxPage([
      fxStatus('2003', fxMedia.photo),
      fxStatus('2002'),
      fxStatus('2001', fxMedia.video),
    ]);
    const query = timeline({ onlyMedia: true, withReplies: true, untilSeconds: now / 1000 - 60 });

    const { found, paths } = await read({ 'profile/mira_holm/media': page }, query);

    expect(idsOf(found.items)).toEqual(['2003', '2001']);
    expect(paths).toEqual(['/2/profile/mira_holm/media?count=100']);
  });

  it.each([
    [null, null],
    ['', null],
    ['here', null],
    ['further', 'further'],
    ['0|1', '0|1'],
  ])('that leads from the cursor “here” to %o continues at %o', async (bottom, expected) => {
    const { found } = await read(
      { [statuses]: fxPage([fxStatus('2001')], bottom) },
      timeline({ cursor: 'here' }),
    );

    expect(found.cursor).toBe(expected);
  });
});

describe('the end of a timeline', () => {
  const at = (issuedId: bigint, sortId = 2000n, direction: 'top' | 'bottom' = 'bottom') =>
    writeTimelineCursor({ issuedId, sortId, direction });
  const sent = at(5n);
  const one = [fxStatus('2001')];
  const two = [fxStatus('2001'), fxStatus('2000')];

  it.each([
    ['the same place, issued later, after two rows', two, at(6n), null, undefined],
    ['the same place, issued later, after one row', one, at(6n), null, true],
    ['the same place, issued later, after no rows', [], at(6n), null, true],
    ['the cursor that was sent, after no rows', [], sent, null, true],
    ['nothing, after no rows', [], null, null, undefined],
    ['another place, after no rows', [], at(6n, 1999n), at(6n, 1999n), true],
    ['another place, after two rows', two, at(5n, 1999n), at(5n, 1999n), undefined],
    ['the other direction', two, at(5n, 2000n, 'top'), at(5n, 2000n, 'top'), undefined],
    ['a cursor of another form', two, 'elsewhere', 'elsewhere', undefined],
  ])('is determined by its cursor: %s', async (_title, rows, bottom, cursor, isDoubtful) => {
    const { found } = await read({ [statuses]: fxPage(rows, bottom) }, timeline({ cursor: sent }));

    expect(found).toMatchObject({ cursor, rows: rows.length });
    expect(found.isDoubtful).toBe(isDoubtful);
    expect('isDoubtful' in found).toBe(isDoubtful === true);
  });
});

describe('a page of fewer than two rows', () => {
  const shop = fxUser('shop');
  const lists = [
    [timeline({ withReplies: true }), statuses, fxTombstone('2001', 'deleted')],
    [connections(), 'profile/mira_holm/followers', shop],
    [connections({ kind: 'following' }), 'profile/mira_holm/following', shop],
    [search(), 'search', fxStatus('2001')],
  ] as const;

  it.each(lists)('is doubtful if it continues: $kind', async (query, path, row) => {
    for (const rows of [[], [row], [null]]) {
      const { found } = await read({ [path]: fxPage(rows, 'more') }, query);

      expect(found).toMatchObject({ cursor: 'more', isDoubtful: true });
    }
  });

  it.each(lists)(
    'is not doubtful at the end, nor with two rows: $kind',
    async (query, path, row) => {
      const pages = [fxPage([row]), fxPage([row, row], 'more'), fxPage([row, null], 'more')];
      for (const page of pages) {
        const { found } = await read({ [path]: page }, query);

        expect(found).not.toHaveProperty('isDoubtful');
      }
    },
  );

  it.each([
    [
      'its cursor is at the end',
      { [`${profilePath}/followers`]: fxPage([shop], '0|3') },
      connections(),
    ],
    ['there can be no more rows', { typeahead: fxSuggestions([]) }, users()],
  ] as const)('is not doubtful if %s', async (_title, routes, query) => {
    const { found } = await read<'followers' | 'following' | 'searchUsers'>(routes, query);

    expect(found.cursor).toBeNull();
    expect(found).not.toHaveProperty('isDoubtful');
  });
});

describe('a timeline with an end time', () => {
  const untilSeconds = secondsOf('2005');
  const until = timeline({ untilSeconds });
  const jump = cursorBefore(untilSeconds * 1000, now);

  function repost(id: string) {
    return fxStatus(id, { author: fxUser('tove_ek'), reposted_by: fxUser('mira_holm') });
  }

  it('starts with the page before the bound', async () => {
    const { found, paths } = await read(
      { [statuses]: fxPages({ [jump]: fxPage([repost('1000'), fxStatus('2004')], 'older') }) },
      until,
    );

    expect(idsOf(found.items)).toEqual(['1000', '2004']);
    expect(found.cursor).toBe('older');
    expect(paths).toEqual([`/2/profile/mira_holm/statuses?count=20&cursor=${jump}`]);
  });

  it('ends if the service returns the made-up cursor', async () => {
    const { found } = await read({ [statuses]: fxPages({ [jump]: fxPage([], jump) }) }, until);

    expect(found).toMatchObject({ items: [], cursor: null });
  });

  it.each([
    [404, { code: 404, results: [] }],
    [400, { code: 400, message: 'cursor: no' }],
    [200, fxPage([])],
  ])('begins with the plain first page if the service replies %i, %o', async (status, body) => {
    const plain = fxPage([fxStatus('2006'), fxStatus('2005'), fxStatus('2004')], 'older');
    const handler: FakeHandler = (request, response) =>
      parametersOf(request).has('cursor')
        ? answerJson(response, body, { status })
        : answerJson(response, plain);

    const { found, paths } = await read({ [statuses]: handler }, until);

    expect(idsOf(found.items)).toEqual(['2004']);
    expect(paths).toHaveLength(2);
  });

  it.each([
    ['fails', down, 'unavailable'],
    ['throttles', busy, 'throttled'],
  ])('is not requested again if the service %s', async (_title, handler, kind) => {
    const { failure, paths } = await fail({ [statuses]: handler }, until);

    expect(failure.kind).toBe(kind);
    expect(paths).toHaveLength(1);
  });

  it.each([
    ['now or later', timeline({ untilSeconds: now / 1000 })],
    ['on a later page', timeline({ untilSeconds, cursor: 'older' })],
  ])('needs no made-up cursor: %s', async (_title, query) => {
    const { paths } = await read({ [statuses]: fxPage([]) }, query);

    expect(paths).toHaveLength(1);
    expect(parametersOf({ url: paths[0] }).get('cursor')).toBe(query.cursor);
  });

  it('has no repost above a later post', async () => {
    const page = fxPage([repost('1001'), fxStatus('2006'), repost('1002'), fxStatus('2004')]);

    const { found } = await read({ [statuses]: page }, { ...until, cursor: 'older' });

    expect(idsOf(found.items)).toEqual(['1002', '2004']);
  });

  it.each([
    ['after', 1, []],
    ['before', -1, ['1001']],
  ])('has a repost only if its page does not end %s it', async (_title, seconds, expected) => {
    const bottom = cursorBefore((untilSeconds + seconds) * 1000, now);
    const page = fxPage([repost('1001')], bottom);

    const { found } = await read({ [statuses]: page }, { ...until, cursor: 'older' });

    expect(idsOf(found.items)).toEqual(expected);
  });
});

describe('a list of accounts', () => {
  it.each(['followers', 'following'] as const)(
    'of %s is requested with its parameters',
    async (kind) => {
      const { paths } = await read(
        { [`profile/mira_holm/${kind}`]: fxPage([]) },
        connections({ kind, cursor: '1|2', count: 500 }),
      );

      expect(paths).toEqual([`/2/profile/mira_holm/${kind}?count=100&cursor=1%7C2`]);
    },
  );

  it.each([
    [null, null],
    ['', null],
    ['1|2', null],
    ['0|3', null],
    ['3|4', '3|4'],
  ])('that leads from the cursor “1|2” to %o continues at %o', async (bottom, expected) => {
    const { found } = await read(
      { 'profile/mira_holm/followers': fxPage([fxUser('shop')], bottom) },
      connections({ cursor: '1|2' }),
    );

    expect(found.cursor).toBe(expected);
  });

  it('shows only the existence of a protected account', async () => {
    const page = fxPage([fxUser('shop', { protected: true, id: '7' })]);

    for (const kind of ['followers', 'following'] as const) {
      const { found } = await read({ [`profile/mira_holm/${kind}`]: page }, connections({ kind }));

      expect(found.items).toEqual([protectedShop]);
    }
  });

  it('has each account once, and the number of missing ones', async () => {
    const page = fxPage([fxUser('shop'), null, fxUser('shop'), { id: 7 }]);

    const { found } = await read({ 'profile/mira_holm/followers': page }, connections());

    expect(found).toMatchObject({ items: [{ screen_name: 'shop' }], rows: 4 });
    expect(found.warnings).toEqual([
      '2 accounts are missing, because the source sent unreadable data for them.',
    ]);
  });
});

describe('a search', () => {
  it.each([
    ['q=heron&feed=latest&count=20', search()],
    ['q=heron&feed=top&count=40', search({ feed: 'top', count: 40 })],
    ['q=heron&feed=media&count=20&cursor=a%3Db', search({ feed: 'photos', cursor: 'a=b' })],
    ['q=heron&feed=media&count=20', search({ feed: 'videos' })],
    [
      'q=from%3Ajack%20%22a%20b%22%20%23c%20-d%20OR%20%C3%A9%26e&feed=latest&count=20',
      search({ text: 'from:jack "a b" #c -d OR é&e' }),
    ],
    ['q=heron%20since_time%3A5&feed=latest&count=20', search({ sinceSeconds: 5 })],
    [
      'q=heron%20since_time%3A5%20until_time%3A9&feed=latest&count=20',
      search({ sinceSeconds: 5, untilSeconds: 9 }),
    ],
  ])('is requested with %s', async (parameters, query) => {
    const { paths } = await read({ search: fxPage([]) }, query);

    expect(paths).toEqual([`/2/search?${parameters}`]);
  });

  const posts = fxPage(
    [
      fxStatus('2003', fxMedia.photo),
      fxStatus('2002', fxMedia.video),
      fxStatus('2001'),
      fxStatus('2003', fxMedia.photo),
      fxStatus('2000', { author: fxUser('shop', { protected: true }) }),
      fxTombstone('1999', 'deleted'),
      { type: 'trend' },
    ],
    'deeper',
  );
  const unreadable = '1 post is missing, because the source sent unreadable data for it.';

  it.each([
    ['latest', ['2003', '2002', '2001'], []],
    ['top', ['2003', '2002', '2001'], []],
    [
      'photos',
      ['2003'],
      [
        'Perch cannot use X’s own search for photos. These are the posts with photos from X’s media feed.',
      ],
    ],
    [
      'videos',
      ['2002'],
      [
        'Perch cannot use X’s own search for videos. These are the posts with videos from X’s media feed.',
      ],
    ],
  ] as const)('in the feed %s has %o', async (feed, expected, warnings) => {
    const { found } = await read({ search: posts }, search({ feed }));

    expect(idsOf(found.items)).toEqual(expected);
    expect(found.warnings).toEqual([...warnings, unreadable]);
    expect(found).toMatchObject({ cursor: 'deeper', rows: 7 });
  });

  it('has only posts of the requested time range', async () => {
    const bounds = { sinceSeconds: secondsOf('2002'), untilSeconds: secondsOf('2003') };

    const { found } = await read({ search: posts }, search(bounds));

    expect(idsOf(found.items)).toEqual(['2002']);
  });

  it.each([
    ['deeper', null],
    ['deepest', 'deepest'],
    [null, null],
  ])('that leads from the cursor “deeper” to %o continues at %o', async (bottom, expected) => {
    const { found } = await read({ search: fxPage([], bottom) }, search({ cursor: 'deeper' }));

    expect(found.cursor).toBe(expected);
  });

  it('without results is empty, not missing', async () => {
    const { found } = await read({ search: fxPage([]) }, search());

    expect(found).toEqual({ items: [], cursor: null, rows: 0, warnings: [] });
  });
});

describe('a search that fails', () => {
  it.each([search(), users()])('with a 404 is unavailable: $kind', async (query) => {
    const { failure, paths } = await fail({}, query);

    expect(failure.kind).toBe('unavailable');
    expect(paths).toHaveLength(1);
  });

  it.each([search(), users()])(
    'with a 400 is rejected with our own message: $kind',
    async (query) => {
      const refusal = answer(400, { code: 400, message: 'Secret page of the upstream' });

      const { failure } = await fail({ search: refusal, typeahead: refusal }, query);

      expect(failure).toMatchObject({ kind: 'rejected', message: 'X refuses this search text.' });
    },
  );

  const blank = 'The search text contains only underscores and spaces, which X refuses.';

  it.each(['_', ' _ __ ', ''])('is rejected without a request for the text %o', async (text) => {
    for (const query of [search({ text, sinceSeconds: 5 }), users(text)]) {
      const { failure, paths } = await fail(fxListRoutes, query);

      expect(failure).toMatchObject({ kind: 'rejected', message: blank });
      expect(paths).toEqual([]);
    }
  });

  it('is rejected without a request if text and times are too long', async () => {
    const bounds = { sinceSeconds: 1_700_000_000, untilSeconds: 1_700_000_001 };
    const room = 512 - ' since_time:1700000000 until_time:1700000001'.length;

    const fits = await read(fxListRoutes, search({ text: 'a'.repeat(room), ...bounds }));
    const { failure, paths } = await fail(
      fxListRoutes,
      search({ text: 'a'.repeat(room + 1), ...bounds }),
    );

    expect(fits.paths).toHaveLength(1);
    expect(failure).toMatchObject({
      kind: 'rejected',
      message: `The search text is longer than the ${room} UTF-16 code units that X accepts together with a time range.`,
    });
    expect(paths).toEqual([]);
  });

  it('is rejected without mentioning times if its text alone is too long', async () => {
    const { failure } = await fail(fxListRoutes, search({ text: '🐦'.repeat(257) }));

    expect(failure).toMatchObject({
      kind: 'rejected',
      message: 'The search text is longer than the 512 UTF-16 code units that X accepts.',
    });
  });

  it.each([
    [400, '<html>', 'malformed'],
    [200, { code: 404, results: [], users: [] }, 'unavailable'],
    [200, { code: 200 }, 'malformed'],
    [500, { code: 500, results: [] }, 'unavailable'],
  ])('with status %i and %o is %s', async (status, body, kind) => {
    const handler = answer(status, body);
    for (const query of [search(), users()]) {
      expect(await kindOf({ search: handler, typeahead: handler }, query)).toBe(kind);
    }
  });
});

describe('a search for accounts', () => {
  it('returns the suggestions of X, without missing counts', async () => {
    const { found, paths } = await read(
      { typeahead: fxSuggestions([fxSuggestedUser('heron'), 7, fxSuggestedUser('heron')]) },
      users('grey heron'),
    );

    expect(found).toMatchObject({
      items: [
        {
          screen_name: 'heron',
          followers: null,
          following: null,
          statuses: null,
          media_count: null,
          likes: null,
          joined: null,
        },
      ],
      cursor: null,
      rows: 3,
      warnings: [
        'Perch cannot use X’s search for accounts. These are the accounts that X suggests for the search text.',
        '1 account is missing, because the source sent unreadable data for it.',
      ],
    });
    expect(paths).toEqual(['/2/typeahead?q=grey%20heron&result_type=users']);
  });

  it('shows only the existence of a protected account', async () => {
    const shop = { ...fxSuggestedUser('shop'), id: '7', protected: true };

    const { found } = await read({ typeahead: fxSuggestions([shop]) }, users());

    expect(found.items).toEqual([protectedShop]);
  });
});
