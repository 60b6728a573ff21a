import { expect, it } from 'vitest';
import { isPublicName, isPublicUrl, publicHostOf } from '../../../../src/lib/http/public-host.ts';

it.each([
  'example.com',
  'social.example.com',
  'a-b.c-d.example.org',
  'xn--mnchen-3ya.example.com',
  'example.xn--p1ai',
  `${'a'.repeat(63)}.example.com`,
  'localhost.example.com',
  'internal.example.com',
  'mylocal.example.com',
])('accepts %s as a public name', (host) => {
  expect(isPublicName(host)).toBe(true);
});

it.each([
  '',
  'localhost',
  'mastodon',
  'com',
  'app.localhost',
  'localhost.localdomain',
  'printer.local',
  'db.internal',
  'metadata.google.internal',
  'router.home.arpa',
  '1.0.0.127.in-addr.arpa',
  'hidden.onion',
  'site.alt',
  'host.test',
  'host.invalid',
  'ada.example',
  'nas.lan',
  'box.home',
  'wiki.corp',
  'smtp.mail',
  'wiki.intranet',
  'wiki.private',
  'example.com.',
  '.example.com',
  'example..com',
  'exam_ple.com',
  '-a.example.com',
  'a-.example.com',
  'Example.com',
  'exämple.com',
  'ｌｏｃａｌｈｏｓｔ.com',
  'xn--a.example.com',
  'xn--a-.example.com',
  'xn--99999999.example.com',
  'xn--localhost-.com',
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  'example.0x7f',
  '[::1]',
  '::1',
  'example.com:443',
  'user@example.com',
  'example.com/path',
  'example.com?x',
  'example.com%2e',
  'exa mple.com',
  'example.com\n',
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(126)}example.com`,
])('refuses %j as a public name', (host) => {
  expect(isPublicName(host)).toBe(false);
});

it.each([
  ['https://social.example.com/api/v1/instance', true],
  ['https://social.example.com:443/', true],
  ['https://SOCIAL.example.com/', true],
  ['http://social.example.com/', false],
  ['http://social.example.com:443/', false],
  ['ftp://social.example.com/', false],
  ['https://social.example.com:80/', false],
  ['https://social.example.com:8443/', false],
  ['https://user@social.example.com/', false],
  ['https://:secret@social.example.com/', false],
  ['https://social.example.com./', false],
  ['https://127.0.0.1/', false],
  ['https://0177.1/', false],
  ['https://[::ffff:93.184.216.34]/', false],
  ['https://93.184.216.34/', false],
  ['https://ⓛocalhost/', false],
  ['data:application/json,{}', false],
])('returns whether %s may be requested: %s', (url, expected) => {
  expect(isPublicUrl(new URL(url))).toBe(expected);
});

it.each([
  ['https://reef.example.org/x', 'reef.example.org'],
  ['https://REEF.example.org:443/', 'reef.example.org'],
  ['http://reef.example.org/', null],
  ['https://reef.example.org:8443/', null],
  ['https://a:b@reef.example.org/', null],
  ['https://169.254.169.254/', null],
  ['https://[::1]/', null],
  ['https://printer.local/', null],
  ['https://single/', null],
])('publicHostOf returns for %s the host %s', (url, host) => {
  expect(publicHostOf(new URL(url))).toBe(host);
});
