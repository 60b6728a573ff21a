import { describe, expect, it } from 'vitest';
import { contentTypeOf, toMedia } from '../../../src/normalize/files.ts';

const folder = 'https://files.example.org/9';

const toFile = (name: string, contentType: string | null = null) =>
  toMedia({ url: `${folder}/${name}`, contentType, alt: null });

describe('an attachment', () => {
  it.each([
    ['charts', 'application/pdf; charset=binary', 'file', 'application/pdf'],
    ['slides', 'application/vnd.openxmlformats-officedocument.presentationml.presentation', 'file'],
    ['buoy', 'image/png;q=1', 'photo'],
    ['buoy.jpg', 'text/html; charset=utf-8', 'file', 'text/html'],
    ['Buoy.JXL', null, 'photo'],
    ['fog.opus', 'no media type', 'audio'],
    ['fog.webm', null, 'video'],
    ['chart.tar.gz', null, 'file', 'application/gzip'],
    ['chart', null, 'file', undefined],
  ] as const)(
    '%s with the media type %j is of type %s',
    (name, given, type, contentType?: string) => {
      const media = toFile(name, given);

      expect(media.type).toBe(type);
      if (type === 'file') expect(media.content_type).toBe(contentType ?? given ?? undefined);
    },
  );

  it.each([
    ['tide%20table.odp', 'tide table.odp'],
    ['%1b%5b31m.zip', '\ufffd[31m.zip'],
    ['a%E2%80%AEfdp.zip', 'a\ufffdfdp.zip'],
    ['%ff%fe.zip', '%ff%fe.zip'],
    ['', undefined],
  ])('at %j has the name %j', (path, name) => {
    expect(toFile(path).name).toBe(name);
  });

  it('has a name of at most 200 characters, which are whole', () => {
    const { name = '' } = toFile(`${'a'.repeat(199)}%F0%9F%90%A6.zip`);

    expect(name.length).toBeLessThanOrEqual(200);
    expect(name).not.toMatch(/\p{Surrogate}/u);
  });
});

it('takes the media type of a URL from its extension or its parameter `format`', () => {
  expect(contentTypeOf(`${folder}/a.webp`)).toBe('image/webp');
  expect(contentTypeOf(`${folder}/a?format=png`)).toBe('image/png');
  expect(contentTypeOf('not a URL')).toBeNull();
});
