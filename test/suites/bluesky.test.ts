import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { bskyImages } from '../support/bluesky-payloads.ts';
import { createFakeBluesky, type FakeBluesky } from '../support/fake-bluesky.ts';
import { type ListQuery, listSuite } from './list-suite.ts';
import { providerSuite } from './provider-suite.ts';

const handle = 'mira.test';
const account = { platform: 'bluesky', handle } as const;
const first = { cursor: null, count: 20 } as const;
const anyTime = { sinceSeconds: null, untilSeconds: null } as const;
const firstMs = Date.UTC(2026, 2, 4, 9, 12);

/** Fake AppView with a thread, a timeline of several pages, connections and media. */
function createHealthy(): FakeBluesky {
  const fake = createFakeBluesky();
  const early = fake.addPosts(handle, 45, firstMs - 86_400_000);
  const other = fake.addPost('tove.test', { text: 'A heron', embed: bskyImages('heron') });
  fake.addPost(handle, { parent: other, text: 'Where was the heron?' });
  fake.repost(handle, other);
  const root = fake.addPost(handle, { rkey: '3kroot', text: 'On herons', ms: firstMs });
  const requestedPost = fake.addPost(handle, {
    rkey: '3kasked',
    parent: root,
    ms: firstMs + 60_000,
  });
  fake.addPost(handle, { rkey: '3kmore', parent: requestedPost, ms: firstMs + 120_000 });
  const reply = fake.addPost('tove.test', { rkey: '3kreply', parent: requestedPost, likes: 3 });
  fake.addPost('wren.test', { rkey: '3kdeep', parent: reply });
  fake.addPost(handle, { quote: other, text: 'That heron again' });
  for (const post of early.slice(0, 3)) fake.addPost('wren.test', { parent: post });
  fake.addAccount('heron-watch.test');
  for (const name of ['tove.test', 'wren.test', 'heron-watch.test']) {
    fake.follow(name, handle);
    fake.follow(handle, name);
  }
  return fake;
}

const healthy = createHealthy().handler;
const absent = createFakeBluesky().handler;
const requestedPost = { platform: 'bluesky', handle, id: '3kasked' } as const;

providerSuite('bluesky', { create: createBluesky, post: requestedPost, healthy, absent });

function queriesOf(of: typeof account | { platform: 'sample'; handle: string }): ListQuery[] {
  const platform = of.platform === 'bluesky' ? 'bluesky' : 'archive';
  const options = { withReplies: true, withReposts: true, untilSeconds: null };
  return [
    { kind: 'profile', account: of },
    { kind: 'timeline', account: of, ...options, ...first },
    { kind: 'followers', account: of, ...first },
    { kind: 'following', account: of, ...first },
    { kind: 'search', platform, text: 'heron', feed: 'latest', ...anyTime, ...first },
    { kind: 'searchUsers', platform, text: 'heron', ...first },
  ];
}

listSuite('bluesky', {
  create: createBluesky,
  healthy,
  queries: queriesOf(account),
  elsewhere: queriesOf({ platform: 'sample', handle: 'ada.example' }),
  absent,
});
