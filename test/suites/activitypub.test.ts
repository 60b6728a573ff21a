import { describe, expect, it } from 'vitest';
import type { Post, Status } from '../../src/model/post.ts';
import type { Page, TimelineQuery } from '../../src/model/queries.ts';
import { createActivityPub } from '../../src/providers/activitypub/index.ts';
import {
  actorOf,
  byId,
  type Documents,
  fingerOf,
  type Json,
  noteOf,
  pathOf,
  publicly,
  serveDocuments,
} from '../support/activitypub/documents.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { createOpenLimits } from '../support/mastodon-rig.ts';
import { serveHosts, withPublicHosts } from '../support/public-http.ts';
import { listSuite } from './list-suite.ts';
import {
  askProvider,
  failureOf,
  type ProviderSetup,
  providerSuite,
  type Rig,
  withProvider,
} from './provider-suite.ts';

/** Creates the provider with the fake upstream in place of all public hosts. */
const create: ProviderSetup['create'] = ({ http, apiUrl, clock }) =>
  createActivityPub({
    http: withPublicHosts(http, apiUrl),
    clock,
    callHost: createOpenLimits(clock),
    readTimeoutMs: 20_000,
  });

const home = 'notes.example.org';
const other = 'far.example.net';

const wren = actorOf(home, 'wren', {
  attachment: [
    { type: 'PropertyValue', name: 'Site', value: '<a href="https://wren.example/">wren</a>' },
    { type: 'IdentityProof', name: 'gpg', signatureValue: 'x' },
  ],
});
const kelp = actorOf(other, 'kelp');

const noteId = (at: number): string => `https://${home}/notes/9n${String(at).padStart(3, '0')}`;
const timeAt = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();

const image = { type: 'Document', mediaType: 'image/png', url: `https://${home}/files/1.png` };

/** Notes by wren, oldest first. The last but one replies to kelp, the last to another own note. */
const notes: readonly Json[] = Array.from({ length: 45 }, (_, at) =>
  noteOf(wren, noteId(at), {
    published: timeAt(at),
    attachment: at % 4 === 0 ? [image] : [],
    replies: `${noteId(at)}/replies`,
    ...(at === 43 && { inReplyTo: `https://${other}/notes/2` }),
    ...(at === 44 && { inReplyTo: noteId(42) }),
  }),
);

const farNotes: readonly Json[] = [
  noteOf(kelp, `https://${other}/notes/1`, { published: timeAt(1) }),
  noteOf(kelp, `https://${other}/notes/2`, { published: timeAt(42.5), inReplyTo: noteId(42) }),
  noteOf(kelp, `https://${other}/notes/3`, { published: timeAt(46), inReplyTo: noteId(44) }),
];

const createOf = (object: Json): Json => ({
  id: `${object.id}/activity`,
  type: 'Create',
  actor: object.attributedTo,
  published: object.published,
  to: object.to,
  cc: object.cc,
  object,
});

const announce: Json = {
  id: `https://${home}/notes/9share/activity`,
  type: 'Announce',
  actor: wren.id,
  published: timeAt(50),
  to: [publicly],
  object: `https://${other}/notes/1`,
};

/** Activities of wren's outbox, newest first, with some that are not posts. */
const activities: readonly Json[] = [
  announce,
  { id: `https://${home}/likes/1`, type: 'Like', actor: wren.id, object: noteId(3) },
  ...notes.toReversed().map(createOf),
];

/** Returns the documents of a collection with pages. */
function pagesOf(id: string, items: readonly unknown[], size: number): Documents {
  const count = Math.max(1, Math.ceil(items.length / size));
  const pages = Array.from({ length: count }, (_, at) => ({
    id: `${id}?page=${at + 1}`,
    type: 'OrderedCollectionPage',
    partOf: id,
    orderedItems: items.slice(at * size, (at + 1) * size),
    ...(at + 1 < count && { next: `${id}?page=${at + 2}` }),
  }));
  const whole = { id, type: 'OrderedCollection', totalItems: items.length, first: `${id}?page=1` };
  return byId(whole, ...pages);
}

/** Returns the documents of a collection that contains all its items. */
const listOf = (id: string, items: readonly unknown[]): Documents =>
  byId({ id, type: 'Collection', totalItems: items.length, items });

const createdIn: Documents = Object.fromEntries(
  activities.map((activity) => [pathOf(String(activity.id)), { body: activity }]),
);

const homeDocuments: Documents = {
  ...createdIn,
  ...byId(wren, ...notes),
  ...fingerOf(wren, `wren@${home}`),
  ...pagesOf(String(wren.outbox), activities, 10),
  ...pagesOf(String(wren.followers), [kelp.id, `https://${other}/users/gone`], 10),
  ...listOf(String(wren.following), [kelp.id]),
  ...listOf(`${noteId(42)}/replies`, [noteId(44), `https://${other}/notes/2`]),
  ...listOf(`${noteId(44)}/replies`, [`https://${other}/notes/3`]),
};

const farDocuments: Documents = {
  ...byId(kelp, ...farNotes),
  ...fingerOf(kelp, `kelp@${other}`),
};

/** Two servers without any other API. */
const healthy = serveHosts({
  [home]: serveDocuments(homeDocuments),
  [other]: serveDocuments(farDocuments),
});

const absent: FakeHandler = (_, response) => answerJson(response, { error: 'No' }, { status: 404 });
const post = { platform: 'activitypub', handle: null, id: noteId(42) } as const;
const account = { platform: 'mastodon', handle: `wren@${home}` } as const;
const start = { cursor: null, count: 20 } as const;
const timeline: TimelineQuery = {
  ...{ kind: 'timeline', account, withReplies: true, withReposts: true, untilSeconds: null },
  ...start,
};

providerSuite('activitypub', { create, post, healthy, absent });

listSuite('activitypub', {
  create,
  healthy,
  absent,
  queries: [
    { kind: 'profile', account },
    timeline,
    { kind: 'followers', account, ...start },
    { kind: 'following', account, ...start },
  ],
  elsewhere: [
    { kind: 'profile', account: { platform: 'bluesky', handle: 'ada.example.net' } },
    { kind: 'searchUsers', platform: 'mastodon', text: 'wren', ...start },
  ],
});

const withHosts = <T>(
  hosts: Readonly<Record<string, Documents>>,
  run: (rig: Rig) => Promise<T>,
) => {
  const handlers = Object.entries(hosts).map(
    ([host, found]) => [host, serveDocuments(found)] as const,
  );
  return withProvider(create, { handler: serveHosts(Object.fromEntries(handlers)) }, run);
};

const withWorld = <T>(run: (rig: Rig) => Promise<T>) =>
  withProvider(create, { handler: healthy }, run);

describe('a thread', () => {
  it('has the posts above, the rest of the author’s thread, and the replies of all servers', async () => {
    await withWorld(async ({ ask }) => {
      const found = await ask({ kind: 'post', post, thread: true, replies: 'top' });

      expect(found.continuation.map(({ id }) => id)).toEqual([noteId(44)]);
      expect(found.replies.map(({ id }) => id)).toEqual([
        `https://${other}/notes/2`,
        `https://${other}/notes/3`,
      ]);
      expect(found.replies).toMatchObject([
        { author: { screen_name: `kelp@${other}` }, replying_to: { screen_name: `wren@${home}` } },
        {},
      ]);
      expect(found.warnings).toEqual([]);
    });
  });

  it('has the posts above a reply, each from its own server', async () => {
    await withWorld(async ({ ask }) => {
      const id = noteId(43);
      const found = await ask({
        kind: 'post',
        post: { ...post, id },
        thread: true,
        replies: 'off',
      });

      expect(found.ancestors.map((each) => each.id)).toEqual([
        noteId(42),
        `https://${other}/notes/2`,
      ]);
      // Server `home` names no replies of this note.
      expect(found.missing).toEqual(['thread']);
    });
  });
});

describe('a profile', () => {
  it('has the fields and the counts of the collections', async () => {
    await withWorld(async ({ provider }) => {
      const found = await askProvider<'profile'>(provider, { kind: 'profile', account });

      expect(found.account).toMatchObject({
        screen_name: `wren@${home}`,
        description: 'wren writes\n\nSite: wren',
        website: { url: 'https://wren.example/' },
        followers: 2,
        following: 1,
        statuses: 47,
        platform: 'activitypub',
      });
      expect(found.warnings).toEqual([]);
    });
  });

  it('names where the account has moved, and does not go there', async () => {
    const moved = { ...wren, movedTo: kelp.id, type: 'Service', memorial: true };
    const hosts = { [home]: { ...homeDocuments, ...byId(moved) }, [other]: farDocuments };
    await withHosts(hosts, async ({ provider, upstream }) => {
      const found = await askProvider<'profile'>(provider, { kind: 'profile', account });

      expect(found.account.screen_name).toBe(`wren@${home}`);
      expect(found.warnings.join(' ')).toMatch(
        /moved to https:\/\/far\.example\.net\/users\/kelp\..*memorial.*automated/,
      );
      expect(upstream.requests.filter(({ url }) => url.startsWith(`/${other}/`))).toEqual([]);
    });
  });

  it.each([
    ['confirms it', `acct:wren@wren.example.net`, 'wren@wren.example.net', 0],
    ['does not confirm it', `acct:wren@${home}`, `wren@${home}`, 1],
  ])(
    'has the handle of another domain if the server of the account %s',
    async (_, subject, name, count) => {
      const [path = '', finger] = Object.entries(fingerOf(wren, `wren@${home}`))[0] ?? [];
      const own = {
        ...homeDocuments,
        [path]: { ...finger, body: { ...Object(finger?.body), subject } },
      };
      const hosts = { 'wren.example.net': fingerOf(wren, 'wren@wren.example.net'), [home]: own };
      await withHosts(hosts, async ({ provider }) => {
        const lent = { platform: 'mastodon', handle: 'wren@wren.example.net' } as const;
        const found = await askProvider<'profile'>(provider, { kind: 'profile', account: lent });

        expect(found.account.screen_name).toBe(name);
        expect(found.warnings).toHaveLength(count);
      });
    },
  );

  it('of a suspended account is missing', async () => {
    const hosts = { [home]: { ...homeDocuments, ...byId({ ...wren, suspended: true }) } };
    await withHosts(hosts, async ({ provider }) => {
      const failure = await failureOf(askProvider(provider, { kind: 'profile', account }));

      expect(failure).toMatchObject({ kind: 'missing', unavailable: { reason: 'suspended' } });
    });
  });
});

async function walk({ provider }: Rig, query: TimelineQuery): Promise<readonly Status[]> {
  const found: Status[] = [];
  let { cursor } = query;
  do {
    const page: Page<Post> = await askProvider<'timeline'>(provider, { ...query, cursor });
    for (const each of page.items) if (each.type === 'status') found.push(each);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}

const newestFirst = Array.from({ length: 45 }, (_, at) => noteId(44 - at));

describe('a timeline', () => {
  it.each([1, 7, 10, 40, 100])('has each post once, in order, by parts of %i', async (count) => {
    await withWorld(async (rig) => {
      const posts = await walk(rig, { ...timeline, count });

      expect(posts.map(({ id }) => id)).toEqual([`https://${other}/notes/1`, ...newestFirst]);
      expect(posts[0]).toMatchObject({
        author: { screen_name: `kelp@${other}` },
        reposted_by: { screen_name: `wren@${home}` },
      });
    });
  });

  it('continues within a collection that has no pages', async () => {
    const [page] = Object.values(pagesOf(String(wren.outbox), newestFirst, 100)).slice(1);
    const { next: _, ...rest } = Object(page?.body);
    const body = { ...rest, id: wren.outbox, type: 'OrderedCollection' };
    const hosts = { [home]: { ...homeDocuments, ...byId(body) }, [other]: farDocuments };
    await withHosts(hosts, async (rig) => {
      const posts = await walk(rig, { ...timeline, count: 20 });

      expect(posts.map(({ id }) => id)).toEqual(newestFirst);
    });
  });

  it('has only posts with media if asked', async () => {
    await withWorld(async (rig) => {
      const posts = await walk(rig, { ...timeline, onlyMedia: true });

      expect(posts).toHaveLength(12);
    });
  });

  it('of a community has the posts of its members', async () => {
    const group = actorOf(home, 'tides', { type: 'Group', id: `https://${home}/c/tides` });
    const member: Json = {
      ...Object(homeDocuments['/notes/9n001']?.body),
      id: `https://${home}/post/1`,
      type: 'Page',
      name: 'In the community',
      audience: group.id,
    };
    const stray = { ...member, id: `https://${home}/post/2`, audience: `https://${home}/c/other` };
    const activities = [member, stray].map((object) => ({
      type: 'Create',
      actor: wren.id,
      object,
    }));
    const documents = {
      ...homeDocuments,
      ...byId(group),
      ...fingerOf(group, `tides@${home}`),
      ...pagesOf(String(group.outbox), activities, 10),
    };
    await withHosts({ [home]: documents }, async (rig) => {
      const tides = { platform: 'mastodon', handle: `tides@${home}` } as const;
      const posts = await walk(rig, { ...timeline, account: tides });

      expect(posts.map(({ id }) => id)).toEqual([member.id]);
      expect(posts).toMatchObject([{ community: { name: `tides@${home}` } }]);
    });
  });
});

describe('a list of accounts', () => {
  it('says how many accounts their servers did not send', async () => {
    await withWorld(async ({ provider }) => {
      const page = await askProvider<'followers'>(provider, {
        kind: 'followers',
        account,
        ...start,
      });

      expect(page.items).toMatchObject([{ screen_name: `kelp@${other}` }]);
      expect(page.warnings).toEqual([expect.stringContaining('1 account is missing')]);
    });
  });

  it('says that it is not shown', async () => {
    const hidden = { id: wren.followers, type: 'OrderedCollection', totalItems: 7 };
    await withHosts({ [home]: { ...homeDocuments, ...byId(hidden) } }, async ({ provider }) => {
      const page = await askProvider<'followers'>(provider, {
        kind: 'followers',
        account,
        ...start,
      });

      expect(page).toMatchObject({ items: [], cursor: null });
      expect(page.warnings).toEqual(['The server of this account does not show this list.']);
    });
  });

  it('is refused if the account has no such list', async () => {
    const { following: _, ...without } = wren;
    await withHosts({ [home]: { ...homeDocuments, ...byId(without) } }, async ({ provider }) => {
      const query = { kind: 'following', account, ...start } as const;

      expect((await failureOf(askProvider(provider, query))).message).toBe(
        `The server of @wren@${home} publishes no list of following.`,
      );
    });
  });
});
