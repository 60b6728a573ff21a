import { describe, expect, it } from 'vitest';
import { mastodonFormat } from '../../../../src/archive/imports/mastodon/mastodon-format.ts';
import { parseFediversePost } from '../../../../src/model/addresses/address.ts';
import {
  toActor,
  toAnnounce,
  toCreate,
  toExportFiles,
} from '../../../support/exports/mastodon-export.ts';
import { readExport } from '../../../support/exports/read-export.ts';
import { readOutboxOf, readPostsOf, writeFolder } from '../../../support/exports/read-mastodon.ts';

const server = 'https://pond.example.org';
const me = `${server}/users/ada`;
const everybody = 'https://www.w3.org/ns/activitystreams#Public';
const actor = toActor({ id: me, preferredUsername: 'ada', url: me });
const uuid = (last: number) => `7e1d5a6b-93d3-4315-ab8e-00000000000${last}`;
const object = (last: number) => `${server}/objects/${uuid(last)}`;

/** Returns an activity in the form of Akkoma and Pleroma: UUIDs, no URL of a page, and fractions of a second. */
function toObject(last: number, more: Readonly<Record<string, unknown>> = {}) {
  const published = '2023-04-05T06:07:08.123456Z';
  const addressed = { to: [everybody], cc: [`${me}/followers`] };
  return {
    id: `${server}/activities/${uuid(last)}`,
    type: 'Create',
    actor: me,
    published,
    ...addressed,
    object: {
      id: object(last),
      type: 'Note',
      ...addressed,
      published,
      content: 'A heron',
      ...more,
    },
  };
}

const readObject = async (more: Readonly<Record<string, unknown>>) =>
  (await readPostsOf([toObject(1, more)], actor)).get(uuid(1));

describe('an export of Akkoma or Pleroma', () => {
  it('has posts whose id and URL are those of their objects', async () => {
    const [owner, item] = await readOutboxOf([toObject(1)], actor);

    expect(owner).toMatchObject({ account: { screen_name: 'ada@pond.example.org', url: me } });
    expect(item).toMatchObject({
      kind: 'post',
      created: 1680674828.123,
      post: { id: uuid(1), url: object(1), text: 'A heron', created_at: '2023-04-05T06:07:08Z' },
    });
  });

  it('has the threads and quotes of the account', async () => {
    const reply = { inReplyTo: object(1), to: [everybody, me], quoteUrl: object(1) };

    const post = (await readPostsOf([toObject(2, reply), toObject(1)], actor)).get(uuid(2));

    expect(post).toMatchObject({
      parentId: uuid(1),
      post: {
        replying_to: { screen_name: 'ada@pond.example.org', status: uuid(1), url: object(1) },
        quote: { id: uuid(1), text: 'A heron' },
      },
    });
  });

  it('does not guess the author of a post that a mention may explain', async () => {
    const to = [everybody, `${server}/users/ben`];

    expect((await readObject({ inReplyTo: object(2), to }))?.post).toMatchObject({
      replying_to: { screen_name: null, status: uuid(2) },
    });
  });

  it.each([
    ['ben@other.example.org', [everybody, 'https://other.example.org/users/ben']],
    ['ada@pond.example.org', [me], object(1)],
  ])('has boosts of posts by %s', async (postHandle, to, boosted?: string) => {
    const announced = boosted ?? `https://other.example.org/objects/${uuid(9)}`;
    const boost = { ...toAnnounce(announced), to, cc: [everybody] };

    expect((await readOutboxOf([boost], actor)).at(-1)).toMatchObject({
      kind: 'repost',
      handle: 'ada@pond.example.org',
      postHandle,
      postId: announced.slice(announced.lastIndexOf('/') + 1),
    });
  });

  it.each([
    [
      'a list of links',
      { url: [{ type: 'Link', href: `${server}/a.png`, mediaType: 'image/png' }] },
    ],
    ['a link', { url: { href: `${server}/a.png`, mediaType: 'image/png' } }],
    ['text', { url: `${server}/a.png`, mediaType: 'image/png' }],
  ])('has files whose URL is %s', async (_, file) => {
    const attachment = [{ type: 'Document', name: 'A heron', ...file }];

    expect((await readObject({ attachment }))?.post).toMatchObject({
      media: { photos: [{ url: `${server}/a.png`, alt: 'A heron' }] },
    });
  });

  it.each([
    ['Markdown', { source: { content: '*a* <b>', mediaType: 'text/markdown' } }, '*a* <b>'],
    ['text', { source: { content: ' a\r\nb ' } }, 'a\nb'],
    ['HTML', { source: { content: '<p>a</p>', mediaType: 'text/html' } }, 'a'],
    ['text in content', { content: '1 <b> 2', mediaType: 'text/plain' }, '1 <b> 2'],
    ['HTML in content', { content: '<p>a</p>', source: { content: 'b' } }, 'a'],
    ['HTML by language', { contentMap: { und: null, nl: '<p>a</p>' } }, 'a'],
  ])('has the text of the author: %s', async (_, more, text) => {
    expect((await readObject({ content: '', ...more }))?.post).toMatchObject({ text });
  });
});

describe('a post of an export', () => {
  it.each([
    ['a page of its own', `${me}/statuses/01JYNXQ2H7J22`, `${server}/@ada/statuses/01JYNXQ2H7J22`],
    [
      'the page of a copy',
      `${me}/statuses/01JYNXQ2H7J22`,
      `${server}/@ada/99`,
      '/@ada/01JYNXQ2H7J22',
    ],
    ['numbers', `${server}/ap/users/115/statuses/116`, `${server}/@ada/116`],
    ['numbers only', `${server}/ap/users/115/statuses/116`, null, '/ap/users/115/statuses/116'],
    ['a note', `${server}/notes/9qppkxzyd1ee3i9p`, null, '/notes/9qppkxzyd1ee3i9p'],
    [
      'a page that Perch does not read',
      object(3),
      `${server}/display/${uuid(3)}`,
      `/objects/${uuid(3)}`,
    ],
    ['a notice', object(3), `${server}/notice/AXq5rPQ8Y2oQ0yVw6S`, `/objects/${uuid(3)}`],
  ])('has a URL from which Perch reads it: %s', async (_, id, url, shown?: string) => {
    const [, item] = await readOutboxOf([toObject(1, { id, url })], actor);

    if (item?.kind !== 'post') throw new Error('The post was not read.');
    expect(item.post.url).toBe(shown === undefined ? url : `${server}${shown}`);
    expect(parseFediversePost(item.post.url ?? '')?.id).toBe(item.post.id);
  });

  it('has the title of an article before its text', async () => {
    expect((await readObject({ type: 'Article', name: 'On\nherons' }))?.post).toMatchObject({
      text: 'On herons\n\nA heron',
      facets: [{ type: 'bold', start: 0, end: 9 }],
    });
  });

  it('has the hashtags beside its text and the client', async () => {
    const tag = [
      { type: 'Hashtag', name: '#birds' },
      { type: 'Hashtag', name: '#Mud' },
      ...Array(200).fill({ type: 'Emoji', name: ':heron:' }),
      {
        type: 'Mention',
        name: '@ben@other.example.org',
        href: 'https://other.example.org/users/ben',
      },
    ];
    const content =
      '<a class="mention hashtag" href="https://pond.example.org/tag/mud">#mud</a> <a class="mention" href="https://other.example.org/users/ben">@ben</a>';

    const post = (await readObject({ tag, content, generator: { name: 'Reed' } }))?.post;

    expect(post).toMatchObject({
      text: '#mud @ben@other.example.org',
      tags: ['birds'],
      source: 'Reed',
    });
  });

  it.each([
    ['application/pdf', 'plan', 'Document', 'file'],
    [null, 'plan.pdf', 'Document', 'file'],
    [null, 'plan', 'Document', 'file'],
    [null, 'plan', 'Image', 'photo'],
    [null, 'plan.webm', 'Document', 'video'],
    ['audio/ogg', 'plan', 'Document', 'audio'],
  ])('has a file of type %s, at %s, as %s', async (mediaType, name, type, kind) => {
    const attachment = [{ type, mediaType, url: `${server}/${name}`, name: 'The plan' }];

    expect((await readObject({ attachment }))?.post).toMatchObject({
      media: { all: [{ type: kind, url: `${server}/${name}`, alt: 'The plan' }] },
    });
  });

  it('names the parts that were left out', async () => {
    const attachment = [{ type: 'Document' }, { type: 'Document', url: `${server}/a.png` }];

    expect((await readObject({ attachment, content: 'a'.repeat(40_000) }))?.post).toMatchObject({
      left_out: ['text', 'media'],
    });
  });

  it('replies to its author, also if the handle has another domain', async () => {
    const reply = toCreate(2, 'Yes', { inReplyTo: 'https://social.example.org/@Ada/1' });
    const folder = writeFolder(toExportFiles([reply]));

    const items = await readExport(mastodonFormat, folder, { handle: 'ada@maps.example.org' });

    expect(items?.at(-1)).toMatchObject({
      post: { replying_to: { screen_name: 'ada@maps.example.org', status: '1' } },
    });
  });
});
