import { describe, expect, it } from 'vitest';
import {
  isFediverseAccount,
  parseFediversePost,
  toRecordPage,
} from '../../../../src/model/addresses/address.ts';

describe('the URL of a post on its own server', () => {
  it.each([
    ['https://reef.example.org/@wren/1', 'wren@reef.example.org', '1'],
    ['https://reef.example.org/users/wren/statuses/1', 'wren@reef.example.org', '1'],
    ['https://reef.example.org/users/wren/statuses/1/activity', 'wren@reef.example.org', '1'],
    ['https://reef.example.org/ap/users/115/statuses/9', null, '9'],
    ['https://toot.example.org/@kim/statuses/01J8ZC0Q5V', 'kim@toot.example.org', '01J8ZC0Q5V'],
    ['https://lamp.example.org/notice/AgT3xqLm2kD9', null, 'AgT3xqLm2kD9'],
    ['https://fern.example.org/notes/9xk2mfz0tq', null, '9xk2mfz0tq'],
    ['https://pics.example.org/p/kim/551', 'kim@pics.example.org', '551'],
  ])('parses %s', (url, handle, id) => {
    expect(parseFediversePost(url)).toEqual({ handle, id });
  });

  it.each([
    '',
    'http://reef.example.org/@wren/1',
    'https://reef.example.org:8443/@wren/1',
    'https://reef.example.org/@kelp@kelp.example.net/1',
    'https://reef.example.org/@wren',
    'https://reef.example.org/ap/users/115',
    'https://127.0.0.1/@wren/1',
    'https://localhost/@wren/1',
    'at://did:plc:x/app.bsky.feed.post/3k',
  ])('refuses %s', (url) => {
    expect(parseFediversePost(url)).toBeNull();
  });
});

it.each([
  ['https://reef.example.org/@wren', true],
  ['https://reef.example.org/users/wren', true],
  ['https://pics.example.org/wren', false],
  ['https://reef.example.org/@wren/1', false],
])('the URL of an account on its own server %s: %s', (url, isAccount) => {
  expect(isFediverseAccount(url)).toBe(isAccount);
});

it.each([
  ['at://kim.example.com', 'https://bsky.app/profile/kim.example.com'],
  ['at://kim.example.com/', 'https://bsky.app/profile/kim.example.com'],
  [
    'at://did:web:kites.example.org/app.bsky.feed.post/3k',
    'https://bsky.app/profile/did:web:kites.example.org/post/3k',
  ],
  ['at://kim.example.com/app.bsky.actor.profile/self', 'https://bsky.app/profile/kim.example.com'],
  [
    'at://kim.example.com/app.bsky.graph.list/3l',
    'https://bsky.app/profile/kim.example.com/lists/3l',
  ],
  ['at://kim.example.com/com.whtwnd.blog.entry/3l', null],
  ['https://bsky.app/profile/kim.example.com', null],
])('toRecordPage %s: %s', (text, page) => {
  expect(toRecordPage(text)).toBe(page);
});
