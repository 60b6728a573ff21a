import { trimEndOf } from '../core/trim-end.ts';

/** Maximum size of a file's name without its ending: file systems take 255 bytes. */
const maxBytes = 200;

/** Characters that file systems or the links of notes give a meaning, and those that nobody sees. */
const unusable = /[\\/:*?"<>|#^[\]\p{C}]+/gu;

/** Returns a file's name for a title, without an ending: at most 200 bytes of UTF-8, as file systems take them. */
export function toFileName(title: string): string {
  const plain = title.replace(unusable, ' ').replace(/\s+/g, ' ');
  return trimEndOf(cutBytes(plain.replace(/^[. ]+/, '')), '. …');
}

function cutBytes(text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let bytes = 0;
  const points = [...text.slice(0, maxBytes)];
  const end = points.findIndex((point) => {
    bytes += Buffer.byteLength(point);
    return bytes > maxBytes;
  });
  return points.slice(0, end < 0 ? undefined : end).join('');
}
