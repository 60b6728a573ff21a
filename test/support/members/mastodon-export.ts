import { readOwner } from '../../../src/archive/imports/mastodon/actor.ts';
import {
  activityPayload,
  readOutbox,
} from '../../../src/archive/imports/mastodon/mastodon-format.ts';
import { parseActor } from '../../../src/normalize/activitypub/actor.ts';
import { audiences, toActor, toAnnounce, toCreate } from '../exports/mastodon-export.ts';
import { byReason, type Platform } from './platform.ts';
import type { Json, Kinds } from './walk.ts';

const leftOut: Platform['leftOut'] = {
  'actor.@context': 'the vocabulary of the file',
  'actor.inbox': 'where other servers send posts',
  'actor.outbox': 'the file beside this one',
  'actor.publicKey': 'signs messages among servers',
  'actor.webfinger': 'the handle, which the name and the host give as well',
  'actor.manuallyApprovesFollowers': 'public posts are public all the same',
  'actor.discoverable': 'for directories and suggestions, of which Perch has none',
  'actor.indexable': 'for the search of servers, which serves those who are signed in',
  'actor.memorial': 'archived accounts have no warnings about their state',
  'actor.suspended': 'the server that made the export sends no posts of suspended accounts',
  'actor.attributionDomains': 'for link previews that name their author',
  'actor.alsoKnownAs': 'former accounts; `movedTo` is the new one',
  'actor.tag': 'pictures of emoji; the name keeps their names',
  'actor.icon.mediaType': 'the picture has its own',
  'note.type': 'an article and a note have text alike; a poll has choices',
  'note.atomUri': 'an older form of `id`',
  'note.inReplyToAtomUri': 'an older form of `inReplyTo`',
  'note.replies': 'where other servers read replies',
  'note.interactionPolicy': 'who may quote the post; its text is public all the same',
  'note.quoteAuthorization': 'a proof among servers',
  'note.source.mediaType': 'a source is read as text, unless it is HTML',
  'note.mediaType': 'the text is HTML, unless it is plain text',
  'note.likes.id': 'where other servers read likes',
  'note.shares.id': 'where other servers read boosts',
  'note.tag[].icon': 'pictures of emoji; the text keeps their names',
  'note.tag[].updated': 'when the picture of an emoji was changed',
  'note.attachment[].blurhash': 'a blurred form of the picture',
  'note.attachment[].focalPoint': 'where to cut the picture',
  'note.attachment[].icon': 'a smaller form of the picture',
  'note.attachment[].url[].type': 'a link',
  'note.attachment[].duration': 'in a form of its own; the file has it',
  'note.generator.type': 'a client',
  'note.generator.url': 'the page of the client',
  ...byReason({
    'a private file': 'actor.likes actor.bookmarks',
    'an address among servers':
      'actor.followers actor.following actor.featured actor.featuredTags actor.endpoints',
    'a picture': 'actor.icon.type actor.image.type',
    'tells which of several pictures is the widest': 'actor.icon.width actor.image.width',
    'nothing is read by it': 'create.id announce.id note.tag[].id',
    'the export is that of one account': 'create.actor announce.actor note.attributedTo',
    'nothing is read by it; `inReplyTo` makes the thread': 'note.conversation note.context',
    'a collection':
      'note.likes.type note.shares.type note.oneOf[].replies.type note.anyOf[].replies.type',
    'the choices are all of one type': 'note.oneOf[].type note.anyOf[].type',
  }),
};

const me = 'https://social.example.org/users/Ada';
const { object: plain, ...created } = toCreate(1, '<p>A heron stood there</p>');

async function readItems(activities: readonly unknown[], owner: unknown): Promise<unknown> {
  const contents: Json = { 'actor.json': owner, 'outbox.json': { orderedItems: activities } };
  const toFile = (name: string) => ({
    name,
    bytes: 1,
    read: async function* () {
      yield Buffer.from(JSON.stringify(contents[name]));
    },
  });
  const own = await readOwner(toFile('actor.json'), undefined);
  const items: unknown[] = [own.account];
  const outbox = toFile('outbox.json');
  for await (const group of readOutbox(own, { outbox, again: outbox })) items.push(...group);
  return items;
}

const kinds: Kinds = {
  of: (member, value) => {
    if (member === 'object' && 'content' in value) return 'note';
    return ['actor', 'create', 'announce', 'note'].includes(member) ? member : null;
  },
  readers: {
    actor: (row) => readItems([toCreate(1, 'A heron')], row),
    create: (row) => readItems([row], toActor()),
    announce: (row) => readItems([row], toActor()),
    // The second post is quoted by some samples.
    note: (object) => readItems([{ ...created, object }, toCreate(2, 'It was grey')], toActor()),
  },
};

const note = (fields: Json): Json => ({ ...plain, ...fields });
const file = { type: 'Document', mediaType: 'image/png', url: `${me}/a.png` };
const collection = { id: `${me}/x`, type: 'Collection', totalItems: 2 };
const choice = { type: 'Note', name: 'Tea', replies: { type: 'Collection', totalItems: 3 } };
const quoted = `${me}/statuses/2`;
const none = Object.fromEntries(
  [
    'name',
    'mediaType',
    'source',
    'quote',
    'quoteUri',
    'quoteUrl',
    'quoteURL',
    '_misskey_quote',
    'updated',
  ]
    .concat('oneOf', 'anyOf', 'endTime', 'closed', 'votersCount', 'likes', 'shares', 'generator')
    .map((name) => [name, null]),
);

const samples: Platform['samples'] = [
  [
    'actor',
    toActor({
      inbox: `${me}/inbox`,
      likes: 'likes.json',
      bookmarks: 'bookmarks.json',
      followers: `${me}/followers`,
      following: `${me}/following`,
      featured: `${me}/featured`,
      featuredTags: `${me}/tags`,
      endpoints: { sharedInbox: `${me}/inbox` },
      publicKey: { id: `${me}#key`, publicKeyPem: 'x' },
      webfinger: 'Ada@social.example.org',
      memorial: false,
      suspended: false,
      attributionDomains: ['maps.example.org'],
      alsoKnownAs: ['https://old.example.org/users/ada'],
      tag: [{ type: 'Emoji', name: ':heron:' }],
      icon: { type: 'Image', mediaType: 'image/png', url: 'avatar.png', width: 400 },
      image: { type: 'Image', url: 'header.png', width: 1500 },
      movedTo: 'https://new.example.org/users/ada',
      attachment: [
        {
          type: 'PropertyValue',
          name: 'Home',
          value: '<a href="https://ada.example.org/">home</a>',
        },
      ],
    }),
  ],
  ['create', { ...created, object: note({ published: null }) }],
  ['create', { ...created, ...audiences.unlisted, object: plain }],
  ['announce', toAnnounce('https://other.example.org/users/ben/statuses/77', 'unlisted')],
  ['announce', toAnnounce('https://other.example.org/users/ben/statuses/77')],
  [
    'note',
    note({
      ...none,
      ...audiences.public,
      content:
        '<p><a href="https://b.example/k" class="u-url mention">@kelp</a> <a href="https://a.example/o" class="u-url mention">@otter</a></p>',
      contentMap: { en: 'x' },
      atomUri: `${me}/statuses/1`,
      inReplyTo: 'https://other.example.org/users/ben/statuses/7',
      inReplyToAtomUri: 'https://other.example.org/users/ben/statuses/7',
      conversation: 'tag:social.example.org,2023:1',
      context: 'https://social.example.org/contexts/1',
      updated: '2023-02-01T00:00:00Z',
      summary: 'Birds',
      sensitive: true,
      name: 'On herons',
      generator: { type: 'Application', name: 'Reed', url: 'https://reed.example.org' },
      likes: collection,
      shares: collection,
      replies: { id: `${me}/replies`, type: 'Collection' },
      interactionPolicy: { canQuote: { automaticApproval: [me] } },
      quoteAuthorization: `${me}/authorizations/1`,
      tag: [
        { type: 'Mention', href: 'https://b.example/k', name: '@kelp@kelp.example.net' },
        { type: 'Mention', href: 'https://c.example/k', name: '@kelp@other.example.net' },
        { type: 'Mention', href: 'https://a.example/o', name: '@otter@otter.example.net' },
        { type: 'Hashtag', href: 'https://social.example.org/tags/mud', name: '#mud' },
        {
          type: 'Emoji',
          id: `${me}/e`,
          name: ':heron:',
          icon: file,
          updated: '2023-01-01T00:00:00Z',
        },
      ],
      attachment: [
        {
          ...file,
          name: 'A heron',
          summary: null,
          width: 4,
          height: 3,
          blurhash: 'x',
          focalPoint: [0, 1],
          icon: file,
          duration: 'PT3S',
        },
        { type: 'Image', mediaType: null, url: `${me}/a`, name: null, summary: 'A heron' },
        { type: 'Document', url: [{ type: 'Link', href: `${me}/b.png`, mediaType: 'text/x' }] },
      ],
    }),
  ],
  ['note', note({ content: null, contentMap: { en: '<p>A heron</p>' } })],
  [
    'note',
    note({ content: null, contentMap: null, source: { content: 'A heron', mediaType: 'text/x' } }),
  ],
  ['note', note({ mediaType: 'text/plain', ...audiences.unlisted })],
  ['note', note({ url: 'https://social.example.org/@Ada/statuses/1' })],
  ['note', note({ attachment: [{ ...file, mediaType: 'application/pdf' }] })],
  ['note', note({ oneOf: [choice], endTime: '2023-01-05T00:00:00Z', votersCount: 4 })],
  ['note', note({ anyOf: [choice], closed: '2023-01-05T00:00:00Z', votersCount: 4 })],
  ...['quote', 'quoteUri', 'quoteUrl', 'quoteURL', '_misskey_quote'].map(
    (name): Platform['samples'][number] => ['note', note({ [name]: quoted })],
  ),
  [
    'note',
    note({
      tag: [{ type: 'Link', rel: 'https://misskey-hub.net/ns#_misskey_quote', href: quoted }],
    }),
  ],
  ['note', note({ tag: [{ type: 'Link', mediaType: 'application/activity+json', href: quoted }] })],
];

function shape(kind: string, value: unknown): void {
  if (kind === 'actor') parseActor(value as Json);
  else activityPayload.safeParse(kind === 'note' ? { ...created, object: value } : value);
}

/** Description of the files of a Mastodon export. */
export const mastodonExportMembers: Platform = { kinds, samples, shape, leftOut, envelope: {} };
