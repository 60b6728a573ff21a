import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CID } from 'multiformats/cid';
import { blueskyFormat } from '../../../src/archive/imports/bluesky/bluesky-format.ts';
import {
  followRecord,
  repostRecord,
  toActorView,
  toLabelViews,
  toPostView,
} from '../../../src/archive/imports/bluesky/views.ts';
import { shapeAccount } from '../../../src/normalize/bluesky/account.ts';
import { shapePost } from '../../../src/normalize/bluesky/normalize.ts';
import { parseActor, parsePost } from '../../../src/normalize/bluesky/wire.ts';
import { dids, toBlob, toPostRecord } from '../exports/bluesky-records.ts';
import { toFileCid, writeRepository } from '../exports/car-file.ts';
import { readExport } from '../exports/read-export.ts';
import { temporaryFolder } from '../spawn-perch.ts';
import { byReason, type Platform } from './platform.ts';
import type { Json, Kinds } from './walk.ts';

// The members of the records in a repository: https://github.com/bluesky-social/atproto, `lexicons/app/bsky`.

const leftOut: Platform['leftOut'] = {
  'post.reply.root': 'the first post of the thread, which the thread itself shows',
  'post.bridgyOriginalText': 'a bridge keeps the text of another network there',
  'post.bridgyOriginalUrl': 'a bridge keeps the address in another network there',
  'embed.captions': 'files of captions, which the playlist of the video contains',
  'embed.external.associatedRefs': 'records of the linked page in other apps',
  'profile.pronouns': 'accounts in Perch have no pronouns',
  'profile.pinnedPost': 'stands in the timeline of the account',
  'follow.createdAt': 'lists of followed accounts have no times',
  'feed.did': 'the server of the feed',
  'feed.acceptsInteractions': 'for readers who are signed in',
  'pack.list': 'the accounts of the starter pack',
  'pack.feeds': 'the feeds of the starter pack',
  ...byReason({
    'the members show what an object is':
      'post.facets[].$type post.facets[].index.$type post.labels.$type post.reply.$type ' +
      'embed.images[].$type embed.images[].image.$type embed.items[].$type ' +
      'embed.items[].image.$type embed.video.$type embed.external.thumb.$type ' +
      'embed.record.$type profile.avatar.$type profile.banner.$type profile.labels.$type ' +
      'list.$type list.labels.$type list.avatar.$type feed.$type feed.labels.$type ' +
      'feed.avatar.$type pack.$type pack.avatar.$type pack.labels.$type',
    'names a version of a record, and records are found by address':
      'post.reply.parent.cid embed.record.cid embed.record.record.cid repost.subject.cid',
    'Perch links to the file on Bluesky, and does not read it':
      'embed.images[].image.mimeType embed.images[].image.size embed.items[].image.mimeType ' +
      'embed.items[].image.size embed.video.mimeType embed.video.size ' +
      'embed.external.thumb.mimeType embed.external.thumb.size profile.avatar.mimeType ' +
      'profile.avatar.size profile.banner.mimeType profile.banner.size list.avatar.mimeType ' +
      'list.avatar.size feed.avatar.mimeType feed.avatar.size pack.avatar.mimeType ' +
      'pack.avatar.size',
    'the repost or starter pack that led there':
      'profile.joinedViaStarterPack repost.via follow.via',
    'a link preview has no place for it': 'list.purpose feed.contentMode',
    'a description in a link preview is plain text':
      'list.descriptionFacets feed.descriptionFacets pack.descriptionFacets',
    'when the record was made': 'list.createdAt feed.createdAt pack.createdAt',
  }),
};

/** A repository has no members outside of its records. */
const envelope: Platform['envelope'] = {};

const kindsByType = new Map([
  ['app.bsky.feed.post', 'post'],
  ['app.bsky.feed.repost', 'repost'],
  ['app.bsky.graph.follow', 'follow'],
  ['app.bsky.actor.profile', 'profile'],
  ['app.bsky.graph.list', 'list'],
  ['app.bsky.graph.starterpack', 'pack'],
  ['app.bsky.feed.generator', 'feed'],
]);

function kindOf(member: string, value: Json): string | null {
  if (member === 'embed' || member === 'media') return 'embed';
  // A changed `$type` leaves the kind to the member, under which the samples name it.
  return kindsByType.get(String(value.$type)) ?? null;
}

const key = '3kabcdefghij2';
const uriOf = (path: string) => `at://${dids.ada}/${path}`;
const paths = {
  post: `app.bsky.feed.post/${key}`,
  quoted: 'app.bsky.feed.post/3kaaaaaaaaaa2',
  profile: 'app.bsky.actor.profile/self',
  repost: `app.bsky.feed.repost/${key}`,
  follow: `app.bsky.graph.follow/${key}`,
  list: `app.bsky.graph.list/${key}`,
  pack: `app.bsky.graph.starterpack/${key}`,
  feed: `app.bsky.feed.generator/${key}`,
} as const;

const createdAt = '2023-09-25T16:35:38.732Z';
const quoting = (path: string) => ({
  $type: 'app.bsky.embed.record',
  record: { uri: uriOf(path), cid: 'bafyquoted' },
});
const quoted = toPostRecord('Quoted', createdAt);

async function importRecord(path: string, record: Json, beside: Json = {}) {
  const file = join(temporaryFolder(), 'repo.car');
  const records = { ...beside, [paths.quoted]: quoted, [path]: revive(toJson(record)) };
  writeFileSync(file, writeRepository(dids.ada, records));
  return await readExport(blueskyFormat, file, { handle: 'ada.test' });
}

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Returns a copy of a JSON value with CIDs in place of their JSON, `{ '/': 'bafy…' }`. */
function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== 'object' || value === null) return value;
  if ('/' in value) return CID.parse(String(value['/']));
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, revive(child)]));
}

const importEmbedded = (path: string) => (record: Json) =>
  importRecord(path, record, {
    [paths.post]: toPostRecord('', createdAt, { embed: quoting(path) }),
  });

const kinds: Kinds = {
  of: kindOf,
  readers: {
    post: (record) => importRecord(paths.post, record),
    profile: (record) => importRecord(paths.profile, record),
    repost: (record) => importRecord(paths.repost, record),
    follow: (record) => importRecord(paths.follow, record),
    list: importEmbedded(paths.list),
    pack: importEmbedded(paths.pack),
    feed: importEmbedded(paths.feed),
  },
};

const facet = (type: string, byteStart: number, fields: Json) => ({
  $type: 'app.bsky.richtext.facet',
  index: { $type: 'app.bsky.richtext.facet#byteSlice', byteStart, byteEnd: byteStart + 4 },
  features: [{ $type: `app.bsky.richtext.facet#${type}`, ...fields }],
});
const reference = { uri: uriOf(paths.quoted), cid: 'bafyquoted' };
const labels = (val: string) => ({ $type: 'com.atproto.label.defs#selfLabels', values: [{ val }] });
const text = 'linkmentreef';
const picture = {
  $type: 'app.bsky.embed.gallery#image',
  image: toBlob('one'),
  alt: 'A heron',
  aspectRatio: { width: 400, height: 300 },
};
const oldPicture = {
  image: { cid: toFileCid('old').toString(), mimeType: 'image/png' },
  alt: 'Old',
};
const images = { $type: 'app.bsky.embed.images', images: [picture, oldPicture] };
const video = {
  $type: 'app.bsky.embed.video',
  video: toBlob('film', 'video/mp4'),
  captions: [{ lang: 'en', file: toBlob('captions', 'text/vtt') }],
  alt: 'A heron flies',
  aspectRatio: { width: 400, height: 300 },
  presentation: 'gif',
};
const external = {
  $type: 'app.bsky.embed.external',
  external: {
    uri: 'https://maps.example/heron',
    title: 'Herons',
    description: 'Where they are',
    thumb: toBlob('thumb'),
    associatedRefs: [reference],
  },
};

const post = (fields: Json) => toPostRecord(text, createdAt, fields);

const samples: readonly (readonly [string, Json])[] = [
  [
    'post',
    post({
      facets: [
        facet('link', 0, { uri: 'https://a.example/' }),
        facet('mention', 4, { did: dids.ben }),
        facet('tag', 8, { tag: 'reef' }),
      ],
      tags: ['heron'],
      labels: labels('nudity'),
      reply: { $type: 'app.bsky.feed.post#replyRef', root: reference, parent: reference },
      embed: images,
      bridgyOriginalText: 'A heron',
      bridgyOriginalUrl: 'https://a.example/1',
    }),
  ],
  [
    'post',
    post({
      entities: [{ index: { start: 0, end: 4 }, type: 'link', value: 'https://a.example/' }],
      embed: { $type: 'app.bsky.embed.gallery', items: [picture] },
    }),
  ],
  ['post', post({ embed: video })],
  ['post', post({ embed: external })],
  ['post', post({ embed: quoting(paths.quoted) })],
  [
    'post',
    post({
      embed: {
        $type: 'app.bsky.embed.recordWithMedia',
        record: quoting(paths.quoted),
        media: { $type: 'app.bsky.embed.images', images: [{ image: toBlob('two'), alt: 'B' }] },
      },
    }),
  ],
  [
    'profile',
    {
      $type: 'app.bsky.actor.profile',
      displayName: 'Ada Fenwick',
      description: 'Draws maps.',
      pronouns: 'she',
      website: 'https://ada.example/',
      avatar: toBlob('avatar'),
      banner: toBlob('banner'),
      labels: labels('!no-unauthenticated'),
      joinedViaStarterPack: reference,
      pinnedPost: reference,
      createdAt,
    },
  ],
  ['repost', { $type: 'app.bsky.feed.repost', subject: reference, createdAt, via: reference }],
  ['follow', { $type: 'app.bsky.graph.follow', subject: dids.ben, createdAt, via: reference }],
  [
    'list',
    {
      $type: 'app.bsky.graph.list',
      purpose: 'app.bsky.graph.defs#curatelist',
      name: 'Bird people',
      description: 'They look up',
      descriptionFacets: [facet('tag', 0, { tag: 'birds' })],
      avatar: toBlob('list'),
      createdAt,
    },
  ],
  ['list', { $type: 'app.bsky.graph.list', name: 'Hidden', labels: labels('!hide') }],
  [
    'pack',
    {
      $type: 'app.bsky.graph.starterpack',
      name: 'Start here',
      description: 'A few people',
      descriptionFacets: [facet('tag', 0, { tag: 'birds' })],
      list: uriOf(paths.list),
      feeds: [{ uri: uriOf(paths.feed) }],
      createdAt,
    },
  ],
  // Not in the lexicon, but read like those of lists and feeds.
  ['pack', { $type: 'app.bsky.graph.starterpack', name: 'Start here', avatar: toBlob('pack') }],
  ['pack', { $type: 'app.bsky.graph.starterpack', name: 'Hidden', labels: labels('!hide') }],
  [
    'feed',
    {
      $type: 'app.bsky.feed.generator',
      did: 'did:web:feeds.example',
      displayName: 'Herons today',
      description: 'All of them',
      descriptionFacets: [facet('tag', 0, { tag: 'birds' })],
      avatar: toBlob('feed'),
      acceptsInteractions: true,
      contentMode: 'app.bsky.feed.defs#contentModeVideo',
      createdAt,
    },
  ],
  [
    'feed',
    {
      $type: 'app.bsky.feed.generator',
      displayName: 'Hidden',
      labels: labels('!hide'),
    },
  ],
];

/** Parses a record, so that `watch` sees which members are read. */
function shape(of: string, value: unknown): void {
  const nowMs = Date.UTC(2026, 10, 21);
  const record = value as Json; // a sample
  const owner = { did: dids.ada, name: 'ada.test' };
  const actor = toActorView(owner, {});
  const find = () => (['list', 'pack', 'feed'].includes(of) ? record : null);
  if (of === 'repost') repostRecord.safeParse(record);
  if (of === 'follow') followRecord.safeParse(record);
  if (of === 'profile') {
    const view = { ...toActorView(owner, record), labels: toLabelViews(record) };
    const parsed = parseActor(view);
    if (parsed !== null) shapeAccount(parsed);
  }
  const path = of === 'pack' ? paths.pack : of === 'feed' ? paths.feed : paths.list;
  const embedding = of === 'post' ? record : toPostRecord('', createdAt, { embed: quoting(path) });
  const payload = parsePost(toPostView(embedding, key, { owner, actor, nowMs, find }));
  if (payload !== null) shapePost(payload, { nowMs, parentAuthor: null });
}

/** Description of the records of a Bluesky repository. */
export const blueskyRecordMembers: Platform = { kinds, samples, shape, leftOut, envelope };
