import type { TarMember } from './tar-file.ts';

/** URL of the exported account in tests. */
export const actorAddress = 'https://social.example.org/users/Ada';

const everybody = 'https://www.w3.org/ns/activitystreams#Public';

/** Returns `actor.json`. `more` adds or replaces fields. */
export function toActor(more: Readonly<Record<string, unknown>> = {}) {
  return {
    '@context': ['https://www.w3.org/ns/activitystreams'],
    id: actorAddress,
    type: 'Person',
    preferredUsername: 'Ada',
    name: 'Ada Fenwick',
    summary: '<p>Draws maps.</p>',
    url: 'https://social.example.org/@Ada',
    published: '2022-11-05T00:00:00Z',
    manuallyApprovesFollowers: true,
    discoverable: false,
    indexable: false,
    icon: { type: 'Image', mediaType: 'image/png', url: 'avatar.png' },
    attachment: [],
    outbox: 'outbox.json',
    ...more,
  };
}

/** Recipients of a post by visibility. */
export const audiences = {
  public: { to: [everybody], cc: [`${actorAddress}/followers`] },
  unlisted: { to: [`${actorAddress}/followers`], cc: [everybody] },
  followers: { to: [`${actorAddress}/followers`], cc: [] },
  direct: { to: ['https://social.example.org/users/ben'], cc: [] },
} as const;

/** Returns the activity of a post. `more` adds or replaces fields of the post. */
export function toCreate(
  id: number | string,
  content: string,
  {
    audience = 'public',
    ...more
  }: { audience?: keyof typeof audiences } & Readonly<Record<string, unknown>> = {},
) {
  const address = `${actorAddress}/statuses/${id}`;
  const published = new Date(Date.UTC(2023, 0, 1) + Number(id) * 60_000).toISOString();
  return {
    id: `${address}/activity`,
    type: 'Create',
    actor: actorAddress,
    published,
    ...audiences[audience],
    object: {
      id: address,
      type: 'Note',
      summary: null,
      inReplyTo: null,
      published,
      url: `https://social.example.org/@Ada/${id}`,
      attributedTo: actorAddress,
      ...audiences[audience],
      sensitive: false,
      content,
      contentMap: { en: content },
      attachment: [],
      tag: [],
      ...more,
    },
  };
}

/** Returns the activity of a boost. */
export function toAnnounce(address: string, audience: keyof typeof audiences = 'public') {
  return {
    id: `${actorAddress}/statuses/900/activity`,
    type: 'Announce',
    actor: actorAddress,
    published: '2023-03-01T00:00:00Z',
    ...audiences[audience],
    object: address,
  };
}

/** Returns the files of an export in the order in which Mastodon writes them. */
export function toExportFiles(
  activities: readonly unknown[],
  actor: unknown = toActor(),
): readonly TarMember[] {
  const outbox = {
    '@context': 'https://www.w3.org/ns/activitystreams',
    id: 'outbox.json',
    type: 'OrderedCollection',
    totalItems: activities.length,
    orderedItems: activities,
  };
  return [
    { name: 'media_attachments/files/1/original/heron.png', content: Buffer.alloc(3000, 7) },
    { name: 'outbox.json', content: JSON.stringify(outbox) },
    { name: 'likes.json', content: '{"orderedItems":["https://secret.test/liked"]}' },
    { name: 'bookmarks.json', content: '{"orderedItems":["https://secret.test/kept"]}' },
    { name: 'actor.json', content: JSON.stringify(actor) },
  ];
}
