/** Settings of the server, and functions that convert URLs, for the renderers of results. */
export interface RenderContext {
  /** URL of this server, without a slash at the end. */
  readonly baseUrl: string;
  /** Style sheets and icon of HTML pages; absent for pages without styles. */
  readonly pageAssets?: PageAssets;
  /** Returns the page of this server for the URL of a post, account or search; `null` for other URLs. */
  readonly toOwnPage?: ToOwnPage;
  /**
   * Returns the address of a picture on this server; `null` if the server neither has the picture nor may fetch it. Absent
   * if no picture is shown.
   */
  readonly toPictureUrl?: (url: string) => string | null;
  /** Whether the server fetches pictures from other hosts (`PERCH_MEDIA=proxy`). */
  readonly hasPictureProxy?: boolean;
}

/**
 * Returns the page of this server for a URL; `null` if there is none. `mastodonHost`: host whose URLs are read as those of
 * a Mastodon server; `null` for no such host.
 */
export type ToOwnPage = (url: string, mastodonHost: string | null) => OwnPage | null;

/** Page of this server that shows the content of a URL. */
export interface OwnPage {
  readonly url: string;
  /** Whether the content is a post or an account that has its own page on a social platform. */
  readonly hasOriginal: boolean;
}

/** Files that an HTML page contains, so that it needs no other file. */
export interface PageAssets {
  readonly styles: string;
  /** Hash of `styles` as in a Content Security Policy, such as `sha256-…` (CSP Level 3 §2.3.1). */
  readonly stylesHash: string;
  /** SVG icon as a `data:` URL. */
  readonly iconUrl: string;
}
