/** Announcement that an operation is deprecated (RFC 9745). It can include the date of the removal (RFC 8594). */
export interface Deprecation {
  /** URL of the request. */
  readonly url: string;
  /** Time at which the deprecation of the operation begins; can be in the future. */
  readonly deprecatedAt: Date;
  /** Time until which the operation works; `null` if the server does not announce it. */
  readonly sunsetAt: Date | null;
  /** URL that replaces the URL of the request; `null` if there is none. */
  readonly successor: string | null;
}

/** Reads the deprecation headers of a response. Returns `null` if there are none, or if the date is not valid. */
export function readDeprecation(url: string, headers: Headers): Deprecation | null {
  const [, seconds] = /^@(-?\d{1,12})$/.exec(headers.get('deprecation')?.trim() ?? '') ?? [];
  if (seconds === undefined) return null;
  const sunsetMs = Date.parse(headers.get('sunset') ?? '');
  const link = /<([^<>]{1,8192})>\s*;\s*rel="successor-version"/.exec(headers.get('link') ?? '');
  return {
    url,
    deprecatedAt: new Date(Number(seconds) * 1000),
    sunsetAt: Number.isNaN(sunsetMs) ? null : new Date(sunsetMs),
    successor: link?.[1] ?? null,
  };
}
