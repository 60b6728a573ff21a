/** Server settings and address functions that the renderers of results need. */
export interface RenderContext {
  /** URL of this server, without a slash at the end. */
  readonly baseUrl: string;
  /**
   * Returns the address of a picture on this server; `null` if the server cannot fetch the picture. Absent if the
   * server shows no pictures.
   */
  readonly toPictureUrl?: (url: string) => string | null;
}
