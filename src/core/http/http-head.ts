import type { Dispatcher } from 'undici';

/** What came back before the body, whatever its status. */
export interface HttpHead {
  readonly status: number;
  /** The media type without parameters, lower case; empty where there is none. */
  readonly mediaType: string;
  /** Seconds from `Retry-After` (RFC 9110 §10.2.3), where it is usable. */
  readonly retryAfterSeconds: number | undefined;
}

/** Gives what a response says before its body. */
export function readHead(
  { headers, statusCode }: Pick<Dispatcher.ResponseData, 'headers' | 'statusCode'>,
  nowMs: number,
): HttpHead {
  return {
    status: statusCode,
    mediaType:
      (headerText(headers['content-type']) ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
    retryAfterSeconds: parseRetryAfter(headerText(headers['retry-after']), nowMs),
  };
}

/** Gives a header's value, the first where there are several. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Reads `Retry-After` as seconds or as a date; undefined when it is neither. */
function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
