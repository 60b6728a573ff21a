import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/** What a group of endpoints is for; each is a tag of the machine description. */
export type EndpointTag =
  | 'discovery'
  | 'health'
  | 'mcp'
  | 'operator'
  | 'pages'
  | 'permalink'
  | 'sessions';

/** One kind of reply of an endpoint that is no problem. */
export interface EndpointReply {
  readonly status: number;
  /** One sentence, for readers of the machine description. */
  readonly description: string;
  /** The body by media type; `text` where it is no JSON. Absent where there is none. */
  readonly content?: Readonly<Record<string, z.ZodType | 'text'>>;
  /**
   * Headers beside those that every reply has (`X-Request-Id`, `Cache-Control`; with a key the
   * allowance and the key's status), by name.
   */
  readonly headers?: EndpointHeaders;
}

/** Headers of a reply, by name. */
export type EndpointHeaders = Readonly<Record<string, EndpointHeader>>;

/** A header of a reply. */
export interface EndpointHeader {
  readonly description: string;
  /** True where only some such replies have it. */
  readonly isOptional?: true;
}

/**
 * A route beside the reads, as the descriptions of the service tell of it. Each surface keeps a table
 * of its own; the composition root hands the tables to OpenAPI and to `/api`.
 */
export interface Endpoint {
  /** The operation id: stable, once it is published. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces. */
  readonly path: string;
  readonly tag: EndpointTag;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  /** Parameters of the path, of the query and of the header, by name. */
  readonly parameters?: {
    readonly path?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly header?: z.ZodObject;
  };
  /** What a body must be, by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  /** True where a request may leave the body out. */
  readonly isBodyOptional?: true;
  readonly replies: readonly EndpointReply[];
  /** Headers of every reply, problems too, beside those that all endpoints have. */
  readonly headers?: EndpointHeaders;
  /** The problems that it answers with, beside those of every route. */
  readonly problems: readonly ProblemCode[];
  /** Who may call it: everybody, everybody with an optional key or any bearer token, or the operator. */
  readonly access: 'open' | 'key' | 'bearer' | 'operator';
}
