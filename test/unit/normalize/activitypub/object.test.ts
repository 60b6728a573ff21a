import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseActor, shapeActor } from '../../../../src/normalize/activitypub/actor.ts';
import { authorOf, parseObject, toObjectId } from '../../../../src/normalize/activitypub/object.ts';
import { shapeObject } from '../../../../src/normalize/activitypub/shape.ts';
import { actorOf, type Json, noteOf } from '../../../support/activitypub/documents.ts';

const host = 'notes.example.org';
const wren = actorOf(host, 'wren');
const id = `https://${host}/notes/1`;

function shape(fields: Json) {
  const actor = parseActor(wren);
  const object = parseObject(noteOf(wren, id, fields));
  if (actor === null || object === null) throw new Error('The object cannot be parsed.');
  return shapeObject(object, { author: shapeActor(actor) });
}

const png = `https://${host}/1.png`;

describe('an object of ActivityPub', () => {
  it.each<[string, Json, object]>([
    ['a type in a list', { type: ['Note'] }, { id }],
    [
      'one attachment',
      { attachment: { type: 'Image', url: png } },
      { media: { all: [{ url: png }] } },
    ],
    [
      'a file in a list of links',
      { attachment: [{ type: 'Document', url: [{ type: 'Link', href: png }] }] },
      { media: { photos: [{ url: png }] } },
    ],
    [
      'an attachment that is a file by its ending',
      { attachment: [{ type: 'Link', href: png }] },
      { card: null, media: { photos: [{ url: png }] } },
    ],
    [
      'a link',
      { attachment: [{ type: 'Link', href: 'https://a.example/b', name: 'B' }] },
      { card: { url: 'https://a.example/b', title: 'B' } },
    ],
    ['one tag', { tag: { type: 'Hashtag', name: '#tides' } }, { tags: ['tides'] }],
    [
      'a reply to an object',
      { inReplyTo: { type: 'Note', id: `${id}0` } },
      { replying_to: { status: `${id}0` } },
    ],
    ['a reply to one of a list', { inReplyTo: [`${id}0`] }, { replying_to: { status: `${id}0` } }],
    ['a reply to no address', { inReplyTo: 'urn:x' }, { replying_to: { status: null, url: null } }],
    [
      'text by language only',
      { content: undefined, contentMap: { de: '<p>Ebbe</p>' } },
      { text: 'Ebbe', lang: 'de' },
    ],
    ['plain text', { content: 'a <b', mediaType: 'text/plain' }, { text: 'a <b' }],
    ['a page on another host', { url: 'https://evil.example.net/' }, { url: id }],
    ['a summary', { summary: '<p>Food</p>' }, { content_warning: 'Food' }],
    ['a summary of an article', { type: 'Article', summary: 'Food' }, { content_warning: null }],
    [
      'a summary of a sensitive article',
      { type: 'Article', summary: 'Food', sensitive: true },
      { content_warning: 'Food' },
    ],
    ['only a summary', { type: 'Article', content: '', summary: '<p>Food</p>' }, { text: 'Food' }],
    [
      'a title',
      { name: ' A \n title ', content: '<p>x</p>' },
      { text: 'A title\n\nx', facets: [{ type: 'bold', start: 0, end: 7 }] },
    ],
    [
      'counts as numbers',
      { likes: 3, shares: { totalItems: 2 }, replies: { totalItems: 1 } },
      { likes: 3, reposts: 2, replies: 1 },
    ],
    ['negative counts', { likes: -1, shares: 'no' }, { likes: null, reposts: null }],
    [
      'a licence by name',
      { type: 'Video', license: 'CC BY', content: 'x' },
      { text: 'x\n\nLicence: CC BY' },
    ],
    ['an update', { updated: '2026-01-02T04:00:00Z' }, { edited_at: '2026-01-02T04:00:00Z' }],
    ['an update before its time', { updated: '2025-01-02T04:00:00Z' }, {}],
    [
      'an audience',
      { audience: `https://${host}/c/tides` },
      { community: { name: `tides@${host}` } },
    ],
  ])('with %s is read', (_, fields, expected) => {
    expect(shape(fields)).toMatchObject(expected);
  });

  it.each<[string, Json]>([
    ['an unknown type', { type: 'Like' }],
    ['no type', { type: 7 }],
    ['an id without https', { id: `http://${host}/notes/1` }],
    ['a private id', { id: 'https://10.0.0.1/notes/1' }],
    ['an id with a port', { id: `https://${host}:8443/notes/1` }],
    ['an id that is too long', { id: `https://${host}/${'x'.repeat(3000)}` }],
  ])('with %s is not read', (_, fields) => {
    expect(parseObject({ ...noteOf(wren, id), ...fields })).toBeNull();
  });

  it.each<[string, unknown, string | null]>([
    ['an address', wren.id, wren.id as string],
    ['an object', { type: 'Person', id: wren.id }, wren.id as string],
    [
      'a person and a group',
      [
        { type: 'Group', id: `https://${host}/c` },
        { type: 'Person', id: `https://${host}/p` },
      ],
      `https://${host}/p`,
    ],
    ['an account of another host', 'https://far.example.net/users/kelp', null],
    [
      'another host, then this one',
      ['https://far.example.net/users/kelp', `https://${host}/p`],
      `https://${host}/p`,
    ],
    ['a subdomain', `https://sub.${host}/p`, null],
    ['nothing', undefined, null],
  ])('has the author that %s names', (_, attributedTo, author) => {
    const object = parseObject(noteOf(wren, id, { attributedTo }));

    expect(object === null ? 'unread' : authorOf(object)).toBe(author);
  });

  it('has its id in the form in which URLs are compared', () => {
    expect(toObjectId('HTTPS://Notes.Example.org/a b')).toBe('https://notes.example.org/a%20b');
  });
});

it('is loaded only by the first query to the provider', () => {
  const source = readFileSync('src/providers/activitypub/index.ts', 'utf8');
  const imported = [...source.matchAll(/^import (?!type )[^;]*from '([^']+)'/gm)].map(
    ([, from]) => from,
  );

  expect(
    imported.filter((from) => from?.startsWith('./') || from?.includes('activitypub')),
  ).toEqual([]);
});
