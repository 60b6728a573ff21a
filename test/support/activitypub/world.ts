import { serveHosts } from '../public-http.ts';
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
} from './documents.ts';

export const home = 'notes.example.org';
export const other = 'far.example.net';

export const wren = actorOf(home, 'wren', {
  attachment: [
    { type: 'PropertyValue', name: 'Site', value: '<a href="https://wren.example/">wren</a>' },
    { type: 'IdentityProof', name: 'gpg', signatureValue: 'x' },
  ],
});
export const kelp = actorOf(other, 'kelp');

export const noteId = (at: number): string =>
  `https://${home}/notes/9n${String(at).padStart(3, '0')}`;
const timeAt = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();

const image = { type: 'Document', mediaType: 'image/png', url: `https://${home}/files/1.png` };

/** Notes by wren, oldest first. The last but one replies to kelp, the last to another own note. */
export const notes: readonly Json[] = Array.from({ length: 45 }, (_, at) =>
  noteOf(wren, noteId(at), {
    published: timeAt(at),
    attachment: at % 4 === 0 ? [image] : [],
    replies: `${noteId(at)}/replies`,
    ...(at === 43 && { inReplyTo: `https://${other}/notes/2` }),
    ...(at === 44 && { inReplyTo: noteId(42) }),
  }),
);

export const farNotes: readonly Json[] = [
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
export function pagesOf(id: string, items: readonly unknown[], size: number): Documents {
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
export const listOf = (id: string, items: readonly unknown[]): Documents =>
  byId({ id, type: 'Collection', totalItems: items.length, items });

const createdIn: Documents = Object.fromEntries(
  activities.map((activity) => [pathOf(String(activity.id)), { body: activity }]),
);

export const homeDocuments: Documents = {
  ...createdIn,
  ...byId(wren, ...notes),
  ...fingerOf(wren, `wren@${home}`),
  ...pagesOf(String(wren.outbox), activities, 10),
  ...pagesOf(String(wren.followers), [kelp.id, `https://${other}/users/gone`], 10),
  ...listOf(String(wren.following), [kelp.id]),
  ...listOf(`${noteId(42)}/replies`, [noteId(44), `https://${other}/notes/2`]),
  ...listOf(`${noteId(44)}/replies`, [`https://${other}/notes/3`]),
};

export const farDocuments: Documents = {
  ...byId(kelp, ...farNotes),
  ...fingerOf(kelp, `kelp@${other}`),
};

/** Two servers without any other API. */
export const healthy = serveHosts({
  [home]: serveDocuments(homeDocuments),
  [other]: serveDocuments(farDocuments),
});
