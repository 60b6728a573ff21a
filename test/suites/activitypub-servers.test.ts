import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import {
  actorOf,
  byId,
  type Documents,
  type Json,
  noteOf,
  publicly,
  serveDocuments,
} from '../support/activitypub/documents.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';

/** Server of some software, with one post. Written after the public documentation of the software. */
interface ServerKind {
  readonly software: string;
  readonly host: string;
  readonly documents: Documents;
  /** Address of the post, as people copy it. */
  readonly url: string;
  /** Members of the post in JSON. */
  readonly expected: Json;
  /** Text that every format must show. */
  readonly shown: string;
}

const htmlLink = (href: string) =>
  `<!DOCTYPE html><html><head><title>A page</title>
  <link rel="alternate" type="application/rss+xml" href="/feed">
  <link href="${href}" rel="alternate" type="application/activity+json"></head><body>Text</body></html>`;

function misskey(): ServerKind {
  const host = 'misskey.example.org';
  const author = actorOf(host, 'ai', { id: `https://${host}/users/9abcd`, isCat: true });
  const id = `https://${host}/notes/9xyz01`;
  const quoted = noteOf(author, `https://${host}/notes/9xyz00`, {
    content: '<p>The tide is low.</p>',
  });
  const note = noteOf(author, id, {
    summary: 'Spoilers',
    _misskey_summary: 'Spoilers',
    content:
      '<p>Look at :blobcat: <a href="https://misskey.example.org/tags/tides" rel="tag">#tides</a></p>',
    source: { content: 'Look at :blobcat: #tides', mediaType: 'text/x.misskeymarkdown' },
    sensitive: true,
    attachment: [
      {
        type: 'Document',
        mediaType: 'image/webp',
        url: `https://${host}/files/1.webp`,
        name: 'A cat at the sea',
        sensitive: true,
      },
    ],
    tag: [
      { type: 'Hashtag', href: `https://${host}/tags/tides`, name: '#tides' },
      { type: 'Emoji', id: `https://${host}/emojis/blobcat`, name: ':blobcat:' },
    ],
    quoteUrl: quoted.id,
    _misskey_quote: quoted.id,
  });
  return {
    software: 'Misskey',
    host,
    documents: byId(author, quoted, note),
    url: id,
    expected: {
      id,
      content_warning: 'Spoilers',
      possibly_sensitive: true,
      author: { screen_name: `ai@${host}`, platform: 'activitypub' },
      media: { photos: [{ alt: 'A cat at the sea' }] },
      quote: { type: 'status', id: quoted.id, text: 'The tide is low.' },
    },
    shown: 'Look at',
  };
}

function pixelfed(): ServerKind {
  const host = 'pixelfed.example.org';
  const author = actorOf(host, 'lens', { url: `https://${host}/lens` });
  const id = `https://${host}/p/lens/551788880123456789`;
  const note = noteOf(author, id, {
    content: 'The harbour at dawn',
    attachment: [
      {
        type: 'Image',
        mediaType: 'image/jpeg',
        url: `https://${host}/storage/m/1.jpg`,
        name: 'Boats',
        width: 1440,
        height: 1080,
      },
      { type: 'Video', mediaType: 'video/mp4', url: `https://${host}/storage/m/2.mp4`, name: null },
    ],
    commentsEnabled: true,
    location: { type: 'Place', name: 'Bergen', country: 'Norway' },
  });
  return {
    software: 'Pixelfed',
    host,
    documents: byId(author, note),
    url: id,
    expected: {
      media: { photos: [{ alt: 'Boats', width: 1440 }], videos: [{ type: 'video' }] },
    },
    shown: 'The harbour at dawn',
  };
}

function peertube(): ServerKind {
  const host = 'tube.example.org';
  const author = actorOf(host, 'wren', { id: `https://${host}/accounts/wren`, url: undefined });
  const id = `https://${host}/videos/watch/e7946124-7b72-4ad7-9d22-844a84bb2de1`;
  const channel = `https://${host}/video-channels/tides`;
  const file = (height: number) => ({
    type: 'Link',
    mediaType: 'video/mp4',
    href: `https://${host}/static/${height}.mp4`,
    height,
    width: (height * 16) / 9,
    size: height * 1000,
    fps: 30,
  });
  const video = {
    ...noteOf(author, id),
    type: 'Video',
    name: 'How tides work',
    attributedTo: [
      { type: 'Person', id: author.id },
      { type: 'Group', id: channel },
    ],
    duration: 'PT1H2M5S',
    licence: { identifier: '2', name: 'Attribution - Share Alike' },
    language: { identifier: 'en', name: 'English' },
    views: 360,
    mediaType: 'text/markdown',
    content: 'All about the moon',
    updated: '2026-02-01T00:00:00Z',
    icon: [
      { type: 'Image', url: `https://${host}/small.jpg`, width: 280, height: 157 },
      { type: 'Image', url: `https://${host}/large.jpg`, width: 850, height: 480 },
    ],
    url: [
      { type: 'Link', mediaType: 'text/html', href: `https://${host}/w/abc123` },
      {
        type: 'Link',
        mediaType: 'application/x-mpegURL',
        href: `https://${host}/master.m3u8`,
        tag: [
          { type: 'Infohash', name: 'bade0277' },
          file(360),
          file(1080),
          {
            type: 'Link',
            mediaType: 'application/x-bittorrent',
            href: `https://${host}/1.torrent`,
          },
        ],
      },
      { type: 'Link', rel: ['tracker'], href: 'wss://tube.example.org:443/tracker/socket' },
    ],
    likes: `${id}/likes`,
    shares: `${id}/announces`,
    comments: `${id}/comments`,
  };
  const count = (name: string, totalItems: number) => ({
    id: `${id}/${name}`,
    type: 'OrderedCollection',
    totalItems,
    orderedItems: [],
  });
  return {
    software: 'PeerTube',
    host,
    documents: {
      ...byId(author, video, count('likes', 12), count('announces', 3), count('comments', 0)),
      '/w/abc123': { body: htmlLink(id), type: 'text/html; charset=utf-8' },
    },
    url: `https://${host}/w/abc123`,
    expected: {
      id,
      url: `https://${host}/w/abc123`,
      lang: 'en',
      views: 360,
      likes: 12,
      reposts: 3,
      author: { screen_name: `wren@${host}`, url: `https://${host}/@wren` },
      community: { id: channel, name: `tides@${host}` },
      media: {
        videos: [
          {
            url: `https://${host}/static/1080.mp4`,
            thumbnail_url: `https://${host}/large.jpg`,
            duration: 3725,
            variants: [
              { url: `https://${host}/master.m3u8` },
              { url: `https://${host}/static/360.mp4` },
              { url: `https://${host}/static/1080.mp4` },
            ],
          },
        ],
      },
      text: 'How tides work\n\nAll about the moon\n\nLicence: Attribution - Share Alike',
    },
    shown: 'How tides work',
  };
}

function lemmy(): ServerKind {
  const host = 'lemmy.example.org';
  const author = actorOf(host, 'picard', {
    id: `https://${host}/u/picard`,
    url: `https://${host}/u/picard`,
  });
  const id = `https://${host}/post/55143`;
  const page = {
    ...noteOf(author, id),
    type: 'Page',
    to: [`https://${host}/c/tenforward`, publicly],
    cc: [],
    audience: `https://${host}/c/tenforward`,
    name: 'Tea, Earl Grey',
    content: '<p>Hot.</p>\n',
    mediaType: 'text/html',
    source: { content: 'Hot.', mediaType: 'text/markdown' },
    attachment: [{ type: 'Link', href: 'https://tea.example.net/earl-grey' }],
    image: { type: 'Image', url: `https://${host}/pictrs/image/tea.png` },
    language: { identifier: 'fr', name: 'Français' },
  };
  return {
    software: 'Lemmy',
    host,
    documents: byId(author, page),
    url: id,
    expected: {
      lang: 'fr',
      text: 'Tea, Earl Grey\n\nHot.',
      author: { screen_name: `picard@${host}`, url: `https://${host}/u/picard` },
      community: { name: `tenforward@${host}`, url: `https://${host}/c/tenforward` },
      card: {
        url: 'https://tea.example.net/earl-grey',
        image_url: `https://${host}/pictrs/image/tea.png`,
      },
    },
    shown: 'Tea, Earl Grey',
  };
}

function piefed(): ServerKind {
  const host = 'piefed.example.org';
  const author = actorOf(host, 'rimu', { id: `https://${host}/u/rimu` });
  const id = `https://${host}/post/1234`;
  const question = {
    ...noteOf(author, id),
    type: 'Question',
    to: [`https://${host}/c/polls`, publicly],
    audience: `https://${host}/c/polls`,
    name: 'Which tide?',
    content: '<p>Vote.</p>',
    oneOf: [
      { type: 'Note', name: 'Low', replies: { type: 'Collection', totalItems: 1 } },
      { type: 'Note', name: 'High', replies: { type: 'Collection', totalItems: 3 } },
    ],
    endTime: '2026-03-01T00:00:00Z',
    votersCount: 4,
  };
  return {
    software: 'PieFed',
    host,
    documents: byId(author, question),
    url: id,
    expected: {
      community: { name: `polls@${host}` },
      poll: { total_votes: 4, choices: [{ percentage: 25 }, { label: 'High', percentage: 75 }] },
    },
    shown: 'Which tide?',
  };
}

function friendica(): ServerKind {
  const host = 'friendica.example.org';
  const author = actorOf(host, 'helu', {
    id: `https://${host}/profile/helu`,
    url: `https://${host}/profile/helu`,
  });
  const guid = 'ec054ce7-8062-3c1b-016c-910426317080';
  const id = `https://${host}/objects/${guid}`;
  const page = {
    ...noteOf(author, id),
    type: 'Page',
    summary: '',
    url: 'https://space.example.net/spacewalk',
    name: 'A spacewalk',
    content: 'Two people went outside.',
    contentMap: { de: 'Zwei Menschen gingen hinaus.' },
    to: 'as:Public',
    cc: `${author.id}/followers`,
  };
  return {
    software: 'Friendica',
    host,
    documents: {
      ...byId(author, page),
      [`/display/${guid}`]: { body: page },
    },
    url: `https://${host}/display/${guid}`,
    expected: {
      id,
      url: id,
      lang: 'de',
      text: 'A spacewalk\n\nTwo people went outside.',
      card: { url: 'https://space.example.net/spacewalk' },
      author: { url: `https://${host}/profile/helu` },
    },
    shown: 'Two people went outside.',
  };
}

function hubzilla(): ServerKind {
  const host = 'hub.example.org';
  const author = actorOf(host, 'mario', {
    id: `https://${host}/channel/mario`,
    url: [{ type: 'Link', href: `https://${host}/channel/mario` }],
    icon: { type: 'Image', mediaType: 'image/png', url: `https://${host}/photo/mario` },
  });
  const id = `https://${host}/item/0f1bd5f2-ab6b-4f7e-8d40-6f6b7e0f2a11`;
  const note = noteOf(author, id, {
    content: '<strong>Bold</strong> and <a href="https://perch.example/">a link</a>',
    source: { content: '[b]Bold[/b]', mediaType: 'text/bbcode' },
    actor: author.id,
    generator: { type: 'Application', name: 'hubzilla' },
    to: [publicly],
    cc: [],
    attachment: { type: 'Image', url: `https://${host}/photo/1.jpeg`, name: 'One image' },
    inReplyTo: ['https://reef.example.org/users/kelp/statuses/110'],
  });
  return {
    software: 'Hubzilla',
    host,
    documents: byId(author, note),
    url: id,
    expected: {
      source: 'hubzilla',
      facets: [{ type: 'bold' }, { type: 'link', url: 'https://perch.example/' }],
      media: { photos: [{ url: `https://${host}/photo/1.jpeg` }] },
      replying_to: { screen_name: 'kelp@reef.example.org' },
      author: { avatar_url: `https://${host}/photo/mario` },
    },
    shown: 'Bold',
  };
}

function wordpress(): ServerKind {
  const host = 'blog.example.org';
  const author = actorOf(host, 'ursula', {
    id: `https://${host}/?author=1`,
    url: `https://${host}/author/ursula/`,
  });
  const id = `https://${host}/?p=12`;
  const page = `https://${host}/2026/01/on-tides/`;
  const article = {
    ...noteOf(author, id),
    type: 'Article',
    url: page,
    name: 'On tides',
    summary: '<p>A short beginning [...]</p>',
    content: '<p>The sea rises.</p><h2>Twice</h2><p>Every day.</p>',
    contentMap: { 'en-GB': '<p>The sea rises.</p><h2>Twice</h2><p>Every day.</p>' },
    image: { type: 'Image', url: `https://${host}/uploads/sea.jpg`, name: 'Sea' },
    replies: {
      id: `${id}&replies`,
      type: 'Collection',
      first: { type: 'CollectionPage', items: [] },
    },
    updated: '2026-01-03T00:00:00Z',
  };
  return {
    software: 'WordPress',
    host,
    documents: {
      ...byId(author, article),
      [new URL(page).pathname]: { body: htmlLink('/?p=12'), type: 'text/html; charset=UTF-8' },
    },
    url: page,
    expected: {
      id,
      url: page,
      lang: 'en-GB',
      content_warning: null,
      edited_at: '2026-01-03T00:00:00Z',
      text: 'On tides\n\nThe sea rises.\n\nTwice\n\nEvery day.',
      media: { photos: [{ url: `https://${host}/uploads/sea.jpg` }] },
      author: { screen_name: `ursula@${host}`, url: `https://${host}/author/ursula/` },
    },
    shown: 'The sea rises.',
  };
}

function ghost(): ServerKind {
  const host = 'ghost.example.org';
  const author = actorOf(host, 'index', {
    id: `https://${host}/.ghost/activitypub/users/index`,
    url: `https://${host}/`,
  });
  const id = `https://${host}/.ghost/activitypub/article/0a7c9d2e-1111-4222-8333-944445555666`;
  const article = {
    ...noteOf(author, id),
    type: 'Article',
    url: `https://${host}/first-issue/`,
    name: 'First issue',
    preview: { type: 'Note', content: 'Only the beginning' },
    content:
      '<p>Dear readers</p><figure><img src="https://ghost.example.org/a.png" alt="A lamp"></figure>',
    image: `https://${host}/content/images/cover.png`,
  };
  return {
    software: 'Ghost',
    host,
    documents: byId(author, article),
    url: id,
    expected: {
      id,
      url: `https://${host}/first-issue/`,
      author: { screen_name: `index@${host}`, url: `https://${host}/@index` },
      media: { photos: [{ url: `https://${host}/content/images/cover.png` }] },
    },
    shown: 'Dear readers',
  };
}

function nodebb(): ServerKind {
  const host = 'forum.example.org';
  const author = actorOf(host, 'julian', {
    id: `https://${host}/uid/2`,
    url: `https://${host}/user/julian`,
  });
  const id = `https://${host}/post/103`;
  const note = {
    ...noteOf(author, id),
    audience: `https://${host}/category/5/harbour`,
    context: `https://${host}/topic/17949`,
    name: 'Minutes',
    content: '<p>We met <a class="mention" href="https://forum.example.org/user/ann">@ann</a>.</p>',
    source: { content: 'We met @ann.', mediaType: 'text/markdown' },
    tag: [{ type: 'Mention', href: `https://${host}/uid/3`, name: `@ann@${host}` }],
    url: `https://${host}/topic/17949/minutes/1`,
  };
  return {
    software: 'NodeBB',
    host,
    documents: byId(author, note),
    url: id,
    expected: {
      url: `https://${host}/topic/17949/minutes/1`,
      author: { screen_name: `julian@${host}`, url: `https://${host}/user/julian` },
      facets: [{ type: 'bold' }, { type: 'mention' }],
    },
    shown: 'We met',
  };
}

function discourse(): ServerKind {
  const host = 'talk.example.org';
  const author = actorOf(host, 'angus', {
    id: `https://${host}/ap/actor/495843076e9e469fbd35ccf467ae9fb1`,
    url: `https://${host}/u/angus`,
  });
  const id = `https://${host}/ap/object/1899f65c062200daec50a4c89ed76dc9`;
  const note = {
    ...noteOf(author, id),
    audience: `https://${host}/ap/actor/797217cf18c0e819dfafc52425590146`,
    url: `https://${host}/t/our-next-meeting/4079/1`,
    name: 'Our next meeting',
    content: '<h3>Last meeting</h3>\nPasscode',
    context: `https://${host}/ap/collection/8850f6e85b57c490da915a5dfbbd5045`,
    to: publicly,
  };
  return {
    software: 'Discourse',
    host,
    documents: {
      ...byId(author, note),
      '/t/our-next-meeting/4079/1': { body: note },
    },
    url: `https://${host}/t/our-next-meeting/4079/1`,
    expected: {
      id,
      url: `https://${host}/t/our-next-meeting/4079/1`,
      author: { screen_name: `angus@${host}`, url: `https://${host}/u/angus` },
    },
    shown: 'Our next meeting',
  };
}

function flipboard(): ServerKind {
  const host = 'flip.example.org';
  const author = actorOf(host, 'ScienceDesk');
  const id = `https://${host}/@ScienceDesk/seas-7k2h1z/a-story-a-AbC_1-2`;
  const note = noteOf(author, id, {
    content: '<p>A story <a href="https://news.example.net/a">https://news.example.net/a</a></p>',
    attachment: [
      { type: 'Document', mediaType: 'image/jpeg', url: 'https://cdn.example.net/a.jpg' },
    ],
  });
  return {
    software: 'Flipboard',
    host,
    documents: byId(author, note),
    url: id,
    expected: {
      author: { screen_name: `ScienceDesk@${host}` },
      media: { photos: [{ alt: null }] },
    },
    shown: 'A story',
  };
}

function bridgy(): ServerKind {
  const host = 'web.brid.example.org';
  const author = actorOf(host, 'snarfed.example.net', {
    id: `https://${host}/snarfed.example.net`,
    url: 'https://snarfed.example.net/',
    type: 'Person',
  });
  const id = `https://${host}/convert/ap/at-snarfed.example.net/2026-01-02_note`;
  const create = {
    id: `${id}/create`,
    type: 'Create',
    actor: author.id,
    to: [publicly],
    object: { ...noteOf(author, id), content: '<p>From my own site</p>' },
  };
  return {
    software: 'Bridgy Fed',
    host,
    documents: byId(author, create, create.object),
    url: create.id,
    expected: { id, author: { screen_name: `snarfed.example.net@${host}` } },
    shown: 'From my own site',
  };
}

function akkoma(): ServerKind {
  const host = 'akkoma.example.org';
  const author = actorOf(host, 'lain');
  const id = `https://${host}/objects/3b24a5e0-0c1f-4a52-9d0e-4a6c3a8e9a51`;
  const note = noteOf(author, id, {
    type: ['Note'],
    content: '<p>Soup is on</p>',
    contentMap: { fi: '<p>Soup is on</p>' },
    likes: { type: 'OrderedCollection', totalItems: 7 },
    shares: { type: 'OrderedCollection', totalItems: 2 },
    replies: { type: 'Collection', items: [], totalItems: 0 },
    tag: [
      {
        type: 'Link',
        mediaType: 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
        href: `https://${host}/objects/gone`,
        name: 'RE: https://akkoma.example.org/objects/gone',
      },
    ],
  });
  return {
    software: 'Akkoma',
    host,
    documents: byId(author, note, { id: `https://${host}/objects/gone`, type: 'Tombstone' }),
    url: id,
    expected: {
      lang: 'fi',
      likes: 7,
      reposts: 2,
      replies: 0,
      quote: { type: 'tombstone', reason: 'deleted', url: `https://${host}/objects/gone` },
    },
    shown: 'Soup is on',
  };
}

function mobilizon(): ServerKind {
  const host = 'events.example.org';
  const author = actorOf(host, 'harbour', { id: `https://${host}/@harbour`, type: 'Group' });
  const id = `https://${host}/events/8d2b3a2c-5f7e-4c57-8a3e-111122223333`;
  const event = {
    ...noteOf(author, id),
    type: 'Event',
    name: 'Swim at dawn',
    content: '<p>Bring a towel.</p>',
    startTime: '2026-06-01T04:30:00Z',
    endTime: '2026-06-01T06:00:00Z',
    location: { type: 'Place', name: 'Old pier' },
  };
  return {
    software: 'Mobilizon',
    host,
    documents: byId(author, event),
    url: id,
    expected: {
      text: 'Swim at dawn\n\nBring a towel.\n\nStarts: 2026-06-01T04:30:00Z\nEnds: 2026-06-01T06:00:00Z\nPlace: Old pier',
      poll: null,
    },
    shown: 'Bring a towel.',
  };
}

function funkwhale(): ServerKind {
  const host = 'sound.example.org';
  const author = actorOf(host, 'eliot', { id: `https://${host}/federation/actors/eliot` });
  const id = `https://${host}/federation/music/uploads/88f0bc20-d7fd-461d-a641-dd9ac485e096`;
  const audio = {
    ...noteOf(author, id),
    type: 'Audio',
    name: 'Waves',
    content: undefined,
    url: [
      {
        type: 'Link',
        mimeType: 'text/html',
        mediaType: 'text/html',
        href: `https://${host}/library/9`,
      },
      { type: 'Link', mediaType: 'audio/ogg', href: `https://${host}/listen/9.ogg` },
    ],
    duration: 'PT90S',
  };
  return {
    software: 'Funkwhale',
    host,
    documents: byId(author, audio),
    url: id,
    expected: {
      url: `https://${host}/library/9`,
      media: { all: [{ type: 'audio', duration: 90, url: `https://${host}/listen/9.ogg` }] },
    },
    shown: 'Waves',
  };
}

/** Servers of different software. */
const serverKinds: readonly ServerKind[] = [
  misskey(),
  pixelfed(),
  peertube(),
  lemmy(),
  piefed(),
  friendica(),
  hubzilla(),
  wordpress(),
  ghost(),
  nodebb(),
  discourse(),
  flipboard(),
  bridgy(),
  akkoma(),
  mobilizon(),
  funkwhale(),
];

const buildReader = ({ host, documents }: ServerKind) =>
  buildMastodonApp({ [host]: serveDocuments(documents) });

describe.each(serverKinds)('a post on $software', (kind) => {
  const { url, expected, shown } = kind;

  it('is read as JSON by its whole URL', async () => {
    const { app } = await buildReader(kind);

    const reply = await app.request(`/${encodeURIComponent(url)}?format=json`);

    expect(reply.statusCode, reply.body).toBe(200);
    const [post] = reply
      .json<{ posts: readonly Status[] }>()
      .posts.filter((each) => each.context === 'post');
    expect(post).toMatchObject({ platform: 'activitypub', ...expected });
    expect(reply.json()).toMatchObject({ source: 'activitypub' });
  });

  it.each([
    ['markdown', 'text/markdown'],
    ['html', 'text/html'],
    ['atom', 'application/atom+xml'],
    ['rss', 'application/rss+xml'],
    ['jsonfeed', 'application/feed+json'],
    ['obsidian', 'text/markdown'],
  ])('is read as %s', async (format, type) => {
    const { app } = await buildReader(kind);

    const reply = await app.request(
      `/api/v1/posts?url=${encodeURIComponent(url)}&format=${format}`,
    );

    expect(reply.statusCode, reply.body).toBe(200);
    expect(reply.headers['content-type']).toContain(type);
    expect(reply.body).toContain(shown);
  });

  it('has an id that is read as the same post', async () => {
    const { app } = await buildReader(kind);
    const first = await app.request(`/api/v1/posts?url=${encodeURIComponent(url)}&format=json`);

    const again = await app.request(`/${encodeURIComponent(first.json().url)}?format=json`);

    expect(again.statusCode, again.body).toBe(200);
    expect(again.json().url).toBe(first.json().url);
  });
});

it('asks a server without Mastodon’s API for it once in five minutes', async () => {
  const [kind] = serverKinds;
  if (kind === undefined) throw new Error('There are servers.');
  const { app, fake } = await buildReader(kind);
  const url = encodeURIComponent(kind.url);
  const countApi = () => fake.requests.filter(({ url }) => url.includes('/api/v1/')).length;

  await app.request(`/api/v1/posts?url=${url}&format=json&nocache=true`);
  const first = countApi();
  await app.request(`/api/v1/posts?url=${url}&format=json&nocache=true`);

  expect(first).toBeGreaterThan(0);
  expect(countApi()).toBe(first);
});
