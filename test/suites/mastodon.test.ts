import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
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
import { providerSuite } from './provider-suite.ts';

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
