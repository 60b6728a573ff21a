/** Server settings and address functions that the renderers of results need. */
export interface RenderContext {
  /** URL of this server, without a slash at the end. */
  readonly baseUrl: string;
}
