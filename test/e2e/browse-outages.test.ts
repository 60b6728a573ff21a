import { describe, expect, it } from 'vitest';
import { type ListReply, listReply } from '../../src/model/results.ts';
import { fullPageHabits, startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import { answerHtml, type FakeHandler } from '../support/fake-upstream.ts';
import { listen } from '../support/listen.ts';

const crash: FakeHandler = (_request, response) => answerHtml(response, { status: 500 });
const isTimeline = (url: string) => url.includes('/statuses');

async function setUp(env: Record<string, string> = {}) {
  const fake = await startFakeFxTwitter();
  fake.addAccount('wren');
  const { app, url } = await listen({
    PERCH_PROVIDERS: 'fxtwitter',
    PERCH_FXTWITTER_URL: fake.url,
    PERCH_BREAKER_FAILURES: '1000',
    ...env,
  });
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { headers: { accept: 'application/json' }, ...init });
  const read = async (path: string): Promise<ListReply> =>
    listReply.parse(await (await get(path)).json());
  return { app, fake, get, read };
}

const idsOf = ({ posts, users }: ListReply) => (posts ?? users ?? []).map(({ id }) => id);

it.each([
  { path: '/wren', held: isTimeline },
  { path: '/wren/followers?limit=50', held: (url: string) => url.includes('cursor=') },
])('a caller who leaves does not affect the next one at $path', async ({ path, held }) => {
  const { app, fake, get, read } = await setUp();
  fake.addTimeline('wren', { length: 30 });
  fake.addConnections('wren', { kind: 'followers', length: 90 });
  let waiting = 0;
  const release = fake.interrupt(held, () => {
    waiting += 1;
  });
  const leaving = new AbortController();
  const left = get(path, { signal: leaving.signal }).catch(() => 'left');
  await expect.poll(() => waiting).toBe(1);

  leaving.abort();
  expect(await left).toBe('left');
  await expect.poll(() => app.inFlight).toBe(0);
  release();

  const reply = await read(path);
  expect([reply.warnings, idsOf(reply).length]).toEqual([[], reply.limit]);
});

it('a shutdown ends a partial read with shutting_down', async () => {
  const { app, fake, get } = await setUp();
  let waiting = 0;
  fake.interrupt(isTimeline, () => {
    waiting += 1;
  });
  const reading = get('/wren');
  await expect.poll(() => waiting).toBe(1);

  app.cutOff();

  expect(await (await reading).json()).toMatchObject({ status: 503, code: 'shutting_down' });
});

describe('an outage', () => {
  it('loses no rows of a short page that cannot be requested again', async () => {
    const { fake, read } = await setUp();
    const habits = { ...fullPageHabits, shortTimes: (index: number) => (index === 20 ? 1 : 0) };
    const list = fake.addTimeline('wren', { length: 60 }, habits);
    let timelines = 0;
    const repair = fake.interrupt((url) => isTimeline(url) && ++timelines > 2, crash);
    const pages = [await read('/wren?limit=50')];
    repair();

    while (pages.at(-1)?.nextCursor !== undefined) {
      pages.push(await read(`/wren?limit=50&cursor=${pages.at(-1)?.nextCursor}`));
    }

    expect(pages[0]?.warnings.join(' ')).toContain('failed before the page was full');
    expect(pages.flatMap(idsOf)).toEqual(list.rows.map(({ id }) => id));
  });

  it.each([
    ['only its posts cannot be read', [isTimeline]],
    ['first its posts, then nothing can be read', [isTimeline, () => true]],
  ] as const)('keeps the stale profile when %s', async (_title, broken) => {
    const instant = { PERCH_CACHE_TTL_SECONDS: '0', PERCH_STALE_WHILE_REVALIDATE_SECONDS: '0' };
    const { fake, get, read } = await setUp(instant);
    fake.addTimeline('wren', { length: 30 });
    const whole = await read('/wren');

    for (const isBroken of broken) {
      fake.interrupt(isBroken, crash);
      const reply = await get('/wren');
      const { posts } = listReply.parse(await reply.json());
      expect([reply.headers.get('x-cache'), posts]).toEqual(['stale', whole.posts]);
    }
  });
});
