/** A document that is served as a resource. */
export interface McpDocument {
  /** Its own address, absolute. */
  readonly uri: string;
  /** A short name, by which programs tell it. */
  readonly name: string;
  /** What people call it. */
  readonly title?: string;
  readonly mimeType: string;
  /** Gives its text as it is now. */
  read(): string | Promise<string>;
}
