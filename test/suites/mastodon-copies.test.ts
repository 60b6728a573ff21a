import { describe, expect, it } from 'vitest';
import type { Post } from '../../src/model/post.ts';
import type { Answers, QueryKind } from '../../src/model/queries.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { accountRow, type Row, statusRow } from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { askProvider, postsOf, withProvider } from './provider-suite.ts';

const evil = 'evil.example.org';
/** An account on a server that is never called. */
const ada = accountRow('ada@famous.example.com');
const mallory = accountRow('mallory', { url: `https://${evil}/@mallory` });
const account = { platform: 'mastodon', handle: `mallory@${evil}` } as const;
const adaUrl = 'https://famous.example.com/@ada';
const everything = { withReplies: true, withReposts: true, untilSeconds: null };
const page = { cursor: null, count: 20 } as const;

const copyOf = (id: string) => ({
  host: evil,
  url: `https://${evil}/@ada@famous.example.com/${id}`,
});
const copiedAda = { host: evil, url: `https://${evil}/@ada@famous.example.com` };

/** Sends requests to a server that answers each path with this ending. */
async function ask<Kind extends QueryKind>(
  paths: Readonly<Record<string, unknown>>,
  query: Answers[Kind]['query'] & { readonly kind: Kind },
): Promise<Answers[Kind]['found']> {
  const server: FakeHandler = ({ url = '' }, response) => {
    const path = Object.keys(paths).find((end) => url.split('?')[0]?.endsWith(end));
    if (path === undefined) answerJson(response, { error: 'Record not found' }, { status: 404 });
    else answerJson(response, paths[path]);
  };
  const handler = serveHosts({ [evil]: server });
  return withProvider(createFakedMastodon, { handler }, ({ provider }) =>
    askProvider<Kind>(provider, query),
  );
}

const readPost = (row: Row, context: Row = { ancestors: [], descendants: [] }) =>
  ask<'post'>(
    { [`/statuses/${row.id}`]: row, '/context': context },
    { kind: 'post', post: { ...account, id: String(row.id) }, thread: true, replies: 'top' },
  );

const sources = (posts: readonly Post[]) =>
  posts.map((post) => (post.type === 'status' ? post.copied_from : undefined));

describe('a post sent by a server other than its author’s', () => {
  it('names that server and the URL of the copy', async () => {
    const { post, warnings } = await readPost(statusRow('7', ada));

    expect(post).toMatchObject({
      author: { screen_name: 'ada@famous.example.com', copied_from: copiedAda },
      copied_from: copyOf('7'),
      url: `${adaUrl}/7`,
    });
    expect(warnings).toContainEqual(expect.stringContaining(`a copy of the post on ${evil}.`));
  });

  it('names that server for ancestors, replies and the author’s own chain', async () => {
    const at = (id: string, by: Row, fields: Row = {}) => statusRow(id, by as typeof ada, fields);
    const found = await readPost(at('7', mallory, { in_reply_to_id: '6' }), {
      ancestors: [at('6', ada)],
      descendants: [
        at('8', mallory, { in_reply_to_id: '7' }),
        at('9', ada, { in_reply_to_id: '7' }),
      ],
    });

    expect(sources(postsOf(found))).toEqual([copyOf('6'), undefined, undefined, copyOf('9')]);
  });

  it.each([
    ['state', { quote: { state: 'accepted', quoted_status: statusRow('5', ada) } }],
    ['fork', { quote: statusRow('5', ada) }],
    ['Pleroma', { pleroma: { quote: statusRow('5', ada) } }],
  ])('names that server in a quote: %s', async (_, fields) => {
    const { post } = await readPost(statusRow('7', mallory, fields));

    expect(post).not.toHaveProperty('copied_from');
    expect(post).toMatchObject({ quote: { copied_from: copyOf('5') } });
  });

  it('names that server in boosts, and for the boosting account', async () => {
    const boosted = await readPost(statusRow('7', mallory, { reblog: statusRow('5', ada) }));
    const boosting = await readPost(statusRow('7', ada, { reblog: statusRow('5', mallory) }));
    const rows = [statusRow('7', mallory, { reblog: statusRow('5', ada) })];
    const timeline = await ask<'timeline'>(
      { '/lookup': mallory, '/statuses': rows },
      { kind: 'timeline', account, ...everything, ...page },
    );

    expect(boosted.post).toMatchObject({ copied_from: copyOf('5') });
    expect(boosting.post).not.toHaveProperty('copied_from');
    expect(boosting.post).toMatchObject({ reposted_by: { copied_from: copiedAda } });
    expect(sources(timeline.items)).toEqual([copyOf('5')]);
    expect(timeline.warnings).toContainEqual(expect.stringContaining(`copies stored on ${evil}`));
  });

  it("names that server if the post's URL is that of the copy", async () => {
    const { post } = await readPost(statusRow('7', ada, { url: null, uri: 'tag:odd' }));

    expect(post).toMatchObject({ url: copyOf('7').url, copied_from: copyOf('7') });
  });
});

describe('an account described by another server', () => {
  it('names that server in lists', async () => {
    const found = await ask<'followers'>(
      { '/lookup': mallory, '/followers': [ada, accountRow('kelp')] },
      { kind: 'followers', account, ...page },
    );

    expect(found.items.map(({ copied_from }) => copied_from)).toEqual([copiedAda, undefined]);
    expect(found.warnings).toEqual([
      `Accounts from other servers are copies stored on ${evil}, and may differ from the originals.`,
    ]);
  });
});

describe('data sent by its own server', () => {
  const host = 'social.otter.example.net';
  const otter = accountRow('otter', { url: `https://${host}/@otter` });
  const web = { links: [{ rel: 'self', href: `https://${host}/users/otter` }] };
  const profile = {
    kind: 'profile',
    account: { platform: 'mastodon', handle: 'otter@otter.example.net' },
  } as const;

  it('is not a copy, even if the server acts for a domain', async () => {
    const handler = serveHosts({
      'otter.example.net': ({ url = '' }, response) => {
        if (url.includes('webfinger')) answerJson(response, web);
        else answerJson(response, {}, { status: 404 });
      },
      [host]: (_, response) => answerJson(response, otter),
    });
    const found = await withProvider(createFakedMastodon, { handler }, ({ provider }) =>
      askProvider<'profile'>(provider, profile),
    );

    expect(found.account.screen_name).toBe('otter@otter.example.net');
    expect(found.account).not.toHaveProperty('copied_from');
  });

  it.each([`mallory@${evil}`, `MALLORY@${evil.toUpperCase()}`])(
    'is not a copy if it has its own domain: %s',
    async (acct) => {
      const { post } = await readPost(statusRow('7', { ...mallory, acct }));

      expect(post).not.toHaveProperty('copied_from');
    },
  );

  it.each([`ada@sub.${evil}`, 'ada@example.org', `ada@${evil}:8443`])(
    'is a copy under another, similar domain: %s',
    async (acct) => {
      const { post } = await readPost(statusRow('7', { ...mallory, acct }));

      expect(post).toMatchObject({ copied_from: { host: evil } });
    },
  );
});
