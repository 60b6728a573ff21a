import { describe, expect, it, onTestFinished } from 'vitest';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import type { Config } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp, type TestApp, xOnly } from '../support/build-app.ts';
import { createFakeTimeline, type Entry, type EntryKind } from '../support/fake-timeline.ts';
import { answerJson, type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { type Fields, fxProfile, fxStatus, fxUser } from '../support/x-payloads.ts';

const path = '/api/v1/profiles/mira_holm/posts';
const hourMs = 3_600_000;
const newestMs = Date.UTC(2026, 10, 20);
const kinds: readonly EntryKind[] = ['post', 'repost', 'post', 'reply'];

/** Times of 120 posts, an hour apart. */
const hourly: readonly Entry[] = Array.from({ length: 120 }, (_, index) => ({
  kind: kinds[index % kinds.length] ?? 'post',
  ms: newestMs - index * hourMs,
}));

const habits = {
  pageSize: 20,
  shortShare: 0,
  end: 'null',
  hasPinned: false,
  repeats: false,
} as const;

const gonePost = { code: 401, message: 'PRIVATE_TWEET', status: null };

/** Options of a server and its upstream. */
interface Rig {
  readonly upstream: FakeUpstream;
  /** Returns the requests that the upstream received since the last call. */
  asked(): { readonly pages: number; readonly others: number };
  /** Posts of the account. */
  entries: readonly Entry[];
  /** Answer of the upstream in place of its posts. */
  profile: Fields | null;
  /** Whether all posts are by a protected account. */
  isPostGone: boolean;
  open(env?: Readonly<Record<string, string>>): Promise<TestApp>;
  readonly folder: string;
}

async function startRig(): Promise<Rig> {
  const upstream = await startFakeUpstream((request, response) => {
    const url = request.url ?? '';
    const isPost = url.includes('/status/');
    const post = { code: 200, message: 'OK', status: { ...fxStatus('77'), text: 'Live' } };
    if (isPost && rig.isPostGone) return answerJson(response, gonePost);
    if (isPost) return answerJson(response, post);
    const body = rig.profile ?? createFakeTimeline(rig.entries, habits).answer(url, () => 1);
    answerJson(response, body, { status: Number(body.code) });
  });
  onTestFinished(() => upstream.close());
  const folder = temporaryFolder();
  let seen = 0;
  const rig: Rig = {
    upstream,
    folder,
    entries: hourly,
    profile: null,
    isPostGone: false,
    asked: () => {
      const fresh = upstream.requests.slice(seen);
      seen = upstream.requests.length;
      const pages = fresh.filter(({ url }) => url.includes('/statuses')).length;
      return { pages, others: fresh.length - pages };
    },
    open: (env = {}) =>
      buildTestApp({
        clock: { ...createManualClock(), sleep: systemClock.sleep }, // a failed request is retried after a delay
        env: {
          ...xOnly,
          PERCH_FXTWITTER_URL: upstream.url,
          PERCH_FXTWITTER_PER_MINUTE: '10000',
          // A busy machine must not end an import.
          PERCH_CONNECT_TIMEOUT_MS: '60000',
          PERCH_ATTEMPT_TIMEOUT_MS: '60000',
          PERCH_READ_TIMEOUT_MS: '120000',
          PERCH_ARCHIVE_HISTORY: 'true',
          PERCH_DATA_DIR: folder,
          ...env,
        },
      }),
  };
  return rig;
}

const read = async (app: TestApp, query = '') => {
  const reply = await app.request(`${path}?${query}`);
  expect([reply.statusCode, reply.body]).toEqual([200, expect.any(String)]);
  return reply.json();
};

const idsOf = ({ posts }: { posts: readonly { id: string }[] }) => posts.map(({ id }) => id);
const at = (index: number) => new Date(newestMs - index * hourMs).toISOString();

describe('a stored history', () => {
  it('is not fetched again, except for new posts and the profile', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const first = await read(app);
    const { pages } = rig.asked();
    rig.entries = [{ kind: 'post', ms: newestMs + hourMs }, ...hourly];

    const second = await read(app);

    expect(pages).toBeGreaterThan(5);
    expect(pages).toBeLessThan(30);
    expect(rig.asked()).toEqual({ pages: 1, others: 1 });
    expect(idsOf(second)).toHaveLength(121);
    expect(idsOf(second).slice(1)).toEqual(idsOf(first));
    expect(first.meta).toMatchObject({ count: 120, from_archive: 0, floor_reached: true });
    expect(second.meta).toMatchObject({ count: 121, truncated: false, floor_reached: true });
    expect(second.meta.from_archive).toBeGreaterThan(90);
    expect(second.warnings).toEqual([
      `${second.meta.from_archive} posts are from the archive, fetched at 2026-11-21T00:00:00Z. Use \`nocache=true\` to fetch them again.`,
    ]);
    expect(second.source).toBe('fxtwitter');
  });

  it('survives a restart, in the database of the archive', async () => {
    const rig = await startRig();
    const first = await rig.open();
    const whole = await read(first);
    await first.server.close();
    rig.asked();

    const app = await rig.open();
    const { posts, meta } = await read(app, `since=${at(90)}&until=${at(10)}`);

    expect(rig.asked()).toEqual({ pages: 0, others: 1 });
    expect(meta).toMatchObject({ pages: 0, truncated: false, floor_reached: true });
    expect(idsOf({ posts })).toEqual(idsOf(whole).slice(11, 91));
  });

  it('is used for narrower options, but not for wider ones', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const until = `until=${at(0)}`;
    await read(app, `${until}&with_replies=false`);
    rig.asked();

    const all = await read(app, until);
    const wide = rig.asked();
    const narrow = await read(app, `${until}&with_reposts=false`);
    const replies = await read(app, `${until}&only_replies=true`);

    expect([wide.pages > 0, rig.asked()]).toEqual([true, { pages: 0, others: 2 }]);
    const isRepost = (post: { reposted_by: unknown }) => post.reposted_by !== null;
    const isReply = (post: { replying_to: unknown }) => post.replying_to !== null;
    expect(narrow.posts).toEqual(all.posts.filter((post: never) => !isRepost(post)));
    expect(replies.posts).toEqual(all.posts.filter(isReply));
    expect(all.meta.count).toBe(119);
    expect([narrow.meta.from_archive, replies.meta.from_archive]).toEqual([89, 30]);
  });

  it('is fetched again with nocache, and then lacks deleted posts', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const before = await read(app);
    rig.entries = hourly.map((entry, index) => (index === 42 ? { ...entry, kind: 'gone' } : entry));
    expect(idsOf(await read(app))).toEqual(idsOf(before));
    rig.asked();

    const anew = await read(app, 'nocache=true');

    expect(rig.asked().pages).toBeGreaterThan(5);
    expect(anew.meta).toMatchObject({ count: 119, from_archive: 0 });
    expect(anew.warnings).toEqual([]);
    expect(idsOf(await read(app))).toEqual(idsOf(anew));
    expect(rig.asked().pages).toBe(1);
  });

  it('continues where max_posts ended it', async () => {
    const rig = await startRig();
    const app = await rig.open();
    await read(app, 'max_posts=50');

    const again = await read(app, 'max_posts=50');
    const whole = await read(app, 'max_posts=5000');

    expect(again.meta).toMatchObject({ count: 50, truncated: true, pages: 1 });
    expect(whole.meta).toMatchObject({ count: 120, truncated: false });
    expect(whole.meta.from_archive).toBeGreaterThan(30);
  });

  it('is deleted when the account is no longer public', async () => {
    const rig = await startRig();
    const app = await rig.open();
    await read(app);
    rig.profile = fxProfile({ ...fxUser('mira_holm'), protected: true });

    const reply = await app.request(path);
    rig.profile = null;
    rig.asked();
    const back = await read(app);

    expect([reply.statusCode, reply.json().code]).toEqual([404, 'not_found']);
    expect(back.meta.from_archive).toBe(0);
    expect(rig.asked().pages).toBeGreaterThan(5);
  });

  it.each(['post', 'account'])(
    'loses posts that a source reports as deleted: a %s',
    async (what) => {
      const rig = await startRig();
      const app = await rig.open();
      const { posts } = await read(app);
      const repost = posts.find((post: { reposted_by: unknown }) => post.reposted_by !== null);
      const { id, author } = what === 'post' ? posts[40] : repost;
      rig.isPostGone = true;
      rig.profile = fxProfile({ ...fxUser(author.screen_name), protected: true });
      const address = what === 'post' ? `/mira_holm/status/${id}` : `/${author.screen_name}`;

      const gone = await app.request(address);
      rig.profile = null;
      const after = await read(app, `until=${at(0)}`);

      expect(gone.statusCode).toBe(404);
      expect(after.meta.count).toBe(119 - (what === 'post' ? 1 : 30));
      expect(idsOf(after)).not.toContain(id);
    },
  );

  it('is deleted when another account has the handle', async () => {
    const rig = await startRig();
    const app = await rig.open();
    await read(app);
    const { answer } = createFakeTimeline([{ kind: 'post', ms: newestMs }], habits);
    const other = fxProfile({ ...fxUser('mira_holm'), id: '999000111' });
    const server = await startFakeUpstream((request, response) => {
      const url = request.url ?? '';
      answerJson(response, url.includes('/statuses') ? answer(url, () => 1) : other);
    });
    onTestFinished(() => server.close());

    const { meta } = await read(await rig.open({ PERCH_FXTWITTER_URL: server.url }));

    expect(meta).toMatchObject({ count: 1, from_archive: 0 });
  });

  it('is used for imports only, and does not archive the account', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const { posts } = await read(app);
    rig.asked();

    const profile = await app.request('/api/v1/profiles/mira_holm?format=json');
    const post = await app.request(`/mira_holm/status/${posts[3].id}?format=json`);
    const search = await app.request('/api/v1/search?q=post&platform=archive&format=json');

    expect([profile, post].map(({ headers }) => headers['x-source'])).toEqual([
      'fxtwitter',
      'fxtwitter',
    ]);
    expect(search.body).not.toContain('mira_holm');
    const store = openArchiveStore(`${rig.folder}/archive.db`, 'http://perch.example');
    onTestFinished(() => store.close());
    expect(store.listAccounts()).toEqual([]);
    expect([...store.readOrphanPosts()]).toEqual([]);
    expect(store.deleteHistory({ platform: 'x', handle: 'mira_holm' })).toBe(120);
  });

  it.each<[string, Partial<Record<keyof Config, string>>, boolean]>([
    ['in memory', { PERCH_DATA_DIR: ':memory:' }, true],
    ['without the archive provider', { PERCH_PROVIDERS: 'fxtwitter' }, true],
    ['unless it is disabled', { PERCH_ARCHIVE_HISTORY: 'false' }, false],
  ])('is stored %s', async (_, env, isKept) => {
    const rig = await startRig();
    const app = await rig.open(env as Record<string, string>);
    await read(app, `until=${at(1)}`);
    rig.asked();

    const { meta } = await read(app, `until=${at(1)}`);

    expect(meta.from_archive > 0).toBe(isKept);
    expect(rig.asked().pages === 0).toBe(isKept);
  });

  it('is removed from the archive by its handle', async () => {
    const rig = await startRig();
    const app = await rig.open();
    await read(app);
    const remove = () =>
      runHere(['archive', 'remove', 'mira_holm'], { PERCH_DATA_DIR: rig.folder });

    const [removed, again] = [await remove(), await remove()];

    expect(removed).toMatchObject({
      code: 0,
      stdout: 'Removed the imported history of mira_holm on x: 120 posts.\n',
    });
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/does not contain mira_holm on x/);
    expect((await read(app)).meta.from_archive).toBe(0);
  });

  it('is sent in timeline order, line by line', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const whole = await read(app);

    const { body } = await app.request(`${path}?format=ndjson`);

    const lines = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1).map(({ post }) => post.id)).toEqual(idsOf(whole));
    expect(lines.at(-1).meta.from_archive).toBeGreaterThan(90);
  });

  it('is used for an index, which stores nothing itself', async () => {
    const rig = await startRig();
    const app = await rig.open();
    const until = `until=${at(1)}`;

    const first = await read(app, `${until}&index=true`);
    const whole = await read(app, until);
    rig.asked();
    const second = await read(app, `${until}&index=true`);

    expect([first, whole].map(({ meta }) => meta.from_archive)).toEqual([0, 0]);
    expect(rig.asked()).toEqual({ pages: 0, others: 1 });
    expect(second.posts).toEqual(first.posts);
    expect(idsOf(second)).toEqual(idsOf(whole));
    expect(second.meta.from_archive).toBe(whole.meta.count);
  });
});
