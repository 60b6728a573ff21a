/** Server settings and URL functions that the renderers of results use. */
export interface RenderContext {
  /** URL of this server, without a slash at the end. */
  readonly baseUrl: string;
  /** Style sheets, script and icon of HTML pages; absent for pages without them. */
  readonly pageAssets?: PageAssets;
  /**
   * Converts the URL of a post, account or search to this server's page with the same content; returns `null` for
   * other URLs.
   */
  readonly toOwnPage?: ToOwnPage;
  /**
   * Returns the URL at which this server serves a picture; `null` if the server cannot serve the
   * picture. Absent if pages show no pictures.
   */
  readonly toPictureUrl?: (url: string) => string | null;
  /** Whether browsers fetch the pictures from their hosts (`PERCH_MEDIA=direct`). */
  readonly hasDirectPictures?: boolean;
}

/**
 * Function that converts a URL of this server or of a social platform to this server's page with the same content.
 * Returns `null` if there is no page. `mastodonHost`: host whose URLs are parsed as Mastodon URLs; `null` for none.
 */
export type ToOwnPage = (url: string, mastodonHost: string | null) => OwnPage | null;

/** Page of this server for a linked post, account or search. */
export interface OwnPage {
  readonly url: string;
  /** Whether the content also has a page on a social platform: `true` for posts and accounts, `false` for searches. */
  readonly hasOriginal: boolean;
}

/** Style sheets, script and icon that are embedded in HTML pages. */
export interface PageAssets {
  readonly styles: string;
  /** Hash of `styles` as in a Content Security Policy, such as `sha256-…` (CSP Level 3 §2.3.1). */
  readonly stylesHash: string;
  /** Script of pages with a thread, and its hash in the same form. */
  readonly threadScript: Readonly<{ text: string; hash: string }>;
  /** SVG icon as a `data:` URL. */
  readonly iconUrl: string;
}
