export interface RenderContext {
  /** URL of this server without a slash at the end. */
  readonly baseUrl: string;
  /** Style sheets, script and icon; absent without HTML pages. */
  readonly pageAssets?: PageAssets;
  /** Converts a URL to this server's page with the same content; returns `null` for other URLs. */
  readonly toOwnPage?: ToOwnPage;
  /** Returns a picture's URL here; `null` if it cannot be served. Absent without pictures. */
  readonly toPictureUrl?: (url: string) => string | null;
  /** Whether browsers fetch the pictures from their hosts (`PERCH_MEDIA=direct`). */
  readonly hasDirectPictures?: boolean;
}

/** Converter of a URL to its page here, `null` without one; `mastodonHost` marks Mastodon URLs. */
export type ToOwnPage = (url: string, mastodonHost: string | null) => OwnPage | null;

export interface OwnPage {
  readonly url: string;
  /** Whether the content has a page on a platform: posts and accounts do, searches do not. */
  readonly hasOriginal: boolean;
}

export interface PageAssets {
  readonly styles: string;
  /** Hash of `styles` for a Content Security Policy, such as `sha256-…` (CSP Level 3 §2.3.1). */
  readonly stylesHash: string;
  readonly threadScript: Readonly<{ text: string; hash: string }>;
  /** SVG icon as a `data:` URL. */
  readonly iconUrl: string;
}
