import mime from 'mime';
import { parseUrl } from '../lib/http/url.ts';
import type { Media } from '../model/media.ts';
import { shorten } from './text.ts';

interface Attachment {
  readonly url: string;
  /** Media type; `null` if the source does not state it. */
  readonly contentType: string | null;
  readonly alt: string | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly name?: string | null;
  /** Size in bytes. */
  readonly size?: number | null;
}

/** Form of a media type (RFC 6838 §4.2), without parameters such as `charset`. */
const contentTypeForm = /^[\w.+!#$&^-]{1,127}\/[\w.+!#$&^-]{1,127}$/;

/** Returns `given` if valid, or else the type by extension or the URL parameter `format`. */
export function contentTypeOf(url: string, given: string | null = null): string | null {
  const [type = ''] = (given ?? '').split(';', 1);
  if (contentTypeForm.test(type.trim())) return type.trim().toLowerCase();
  const { pathname, searchParams } = parseUrl(url) ?? {};
  const ending = /[.@]([a-z\d]{1,8})$/i.exec(pathname ?? '')?.[1] ?? searchParams?.get('format');
  return mime.getType(ending?.slice(0, 8) ?? '');
}

/** Converts an attachment whose kind only its media type or its extension states. */
export function toMedia({ url, alt, width = null, height = null, ...file }: Attachment): Media {
  const contentType = contentTypeOf(url, file.contentType);
  const type = kindOf(contentType);
  const media = { type, url, width, height, alt };
  if (type !== 'file') return media;
  const { name = null, size = null } = file;
  const shown = shorten((name ?? nameOf(url)).replace(hidden, '\ufffd'), maxName);
  return {
    ...media,
    ...(shown !== '' && { name: shown }),
    ...(contentType !== null && { content_type: contentType }),
    ...(size !== null && Number.isSafeInteger(size) && size > 0 && { size }),
  };
}

function kindOf(contentType: string | null): Media['type'] {
  const [kind] = (contentType ?? '').split('/');
  if (kind === 'video' || kind === 'audio') return kind;
  return kind === 'image' ? 'photo' : 'file';
}

const maxName = 200;

function nameOf(url: string): string {
  const { pathname = '' } = parseUrl(url) ?? {};
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return decode(last);
}

/** Characters that would break a line, or show the parts of a name in another order. */
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu;

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not encoded as UTF-8
  }
}
