import { expect, it } from 'vitest';
import { detectMediaType } from '../../../../src/lib/files/media-type.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const box = (brands: string) =>
  latin1(`\0\0\0${String.fromCharCode(8 + brands.length)}ftyp${brands}\0\0\0\x08moov`);

it.each([
  ['image/jpeg', latin1('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['image/png', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  ['image/gif', latin1('GIF89a\x01\0')],
  ['image/gif', latin1('GIF87a\x01\0')],
  ['image/webp', latin1('RIFF\x24\0\0\0WEBPVP8 ')],
  ['image/avif', box('avif\0\0\0\0avifmif1')],
  ['image/avif', box('mif1\0\0\0\0mif1avif')],
  ['video/mp4', box('isom\0\0\x02\0isomiso2avc1mp41')],
  ['video/mp4', box('mp42\0\0\0\0')],
  ['video/quicktime', box('qt  \0\0\0\0')],
  ['audio/mp4', box('M4A \0\0\0\0')],
  ['video/webm', latin1('\x1aE\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm')],
  ['audio/mpeg', latin1('ID3\x04\0')],
  ['audio/mpeg', latin1('\xff\xfb\x90\x64')],
  ['audio/aac', latin1('\xff\xf1\x50\x80')],
  ['audio/ogg', latin1('OggS\0\x02')],
  ['audio/wav', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['audio/flac', latin1('fLaC\0\0\0\x22')],
])('detects %s by its first bytes', (mediaType, head) => {
  expect(detectMediaType(head)).toBe(mediaType);
});

it.each([
  ['an empty file', ''],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['SVG with an XML declaration', '<?xml version="1.0"?><svg/>'],
  ['HTML', '<!doctype html><script>alert(1)</script>'],
  ['HTML after a JPEG in a comment', '<!--\xff\xd8\xff-->'],
  ['BMP', 'BM\x36\0\0\0'],
  ['PDF', '%PDF-1.7'],
  ['Matroska that is not WebM', '\x1aE\xdf\xa3\x42\x82\x88matroska'],
  ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
  ['an unfinished signature', '\x89PNG'],
  ['a sync word with a reserved version', '\xff\xea\x90\x64'],
])('detects no type in %s', (_name, text) => {
  expect(detectMediaType(latin1(text))).toBeNull();
});

it('ignores brands after the end of the box', () => {
  const head = latin1('\0\0\0\x10ftypmif1\0\0\0\0avif');

  expect(detectMediaType(head)).toBeNull();
});

it('reads a part of a larger buffer', () => {
  const whole = latin1('....GIF89a');

  expect(detectMediaType(whole.subarray(4))).toBe('image/gif');
});
