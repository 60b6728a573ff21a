import { describe, expect, it } from 'vitest';
import { redactCredentials, redactKeys } from '../../../src/lib/redact.ts';

const key = `perch_${'aB3-_'.repeat(8)}xyz`;
const encode = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

describe('a redacted text', () => {
  it.each([
    [key, 'perch_…'],
    [`/search?q=${key}&feed=top`, '/search?q=perch_…&feed=top'],
    [`${key} and ${key}!`, 'perch_… and perch_…!'],
    [key.toUpperCase(), 'perch_…'],
    [key.slice(0, 30), 'perch_…'],
    [key.replace(/(?<=.{30})./, (one) => encode(one)), 'perch_…'],
  ])('does not contain the key in %s', (text, told) => {
    expect(redactKeys(text)).toBe(told);
  });

  it.each([
    ['/svc/v1/session/ses_01KA3V9Z7T0123456789ABCDEF/stream', '/svc/v1/session/ses_…/stream'],
    ['?a=svct_abcdefghijklmnopqrstuvwxyz-_0123456789ABCDE', '?a=svct_…'],
    ['/session/ses%5F01KA3V9Z7T0123456789ABCDEF', 'perch_…'],
    ['courses_and_more_and_more', 'courses_and_more_and_more'],
  ])('does not contain session ids and tokens: %s', (text, told) => {
    expect(redactKeys(text)).toBe(told);
  });

  it.each([
    ['its underscore', key.replace('_', '%5f')],
    ['all of it', encode(key)],
    ['all of it twice', encode(encode(key))],
    ['one letter of it', key.replace('p', '%70')],
  ])('does not contain a key of which %s is percent-encoded', (_, text) => {
    expect(redactKeys(`/search?q=${text}`)).toBe('perch_…');
  });

  it.each(['/perch_me', '/a%20b?q=100%', 'perch_short', '%', '%zz', '', 'Perch_ing on a wire'])(
    'is unchanged without a key: %s',
    (text) => {
      expect(redactKeys(text)).toBe(text);
    },
  );
});

describe('redacted credentials', () => {
  it.each([
    ['https://me:secret@api.example', 'https://…@api.example'],
    ['https://secret@api.example/path', 'https://…@api.example/path'],
    ['http://me:sec/ret@api.example', 'http://…@api.example'],
    ['http://me:sec@ret@api.example', 'http://…@api.example'],
    ['http:/me:secret@api.example', 'http:/…@api.example'],
    ['me:secret@api.example', '…@api.example'],
    ['https://me:sec,r et@api.example', 'https://…@api.example'],
    ['https://me:secret@api.example:x/y', 'https://…@api.example:x/y'],
    ['a.example,https://me:secret@b.example, c', 'a.example,https://…@b.example, c'],
    ['not “https://me:secret@b.example”.', 'not “https://…@b.example”.'],
  ])('are not in %s', (text, shown) => {
    expect(redactCredentials(text)).toBe(shown);
  });

  it.each([
    'https://mastodon.example/@ada',
    'mailto:ada@example.org',
    'Perch/1.0 (+mailto:ada@example.org)',
    'ada@example.org',
    '@ada@mastodon.example',
    'https://api.example',
  ])('do not change %s', (text) => {
    expect(redactCredentials(text)).toBe(text);
  });
});
