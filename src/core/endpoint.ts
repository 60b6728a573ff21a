import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/** Group of endpoints: a tag of the machine description. */
export type EndpointTag =
  | 'discovery'
  | 'health'
  | 'mcp'
  | 'operator'
  | 'pages'
  | 'permalink'
  | 'sessions';

/** A reply of an endpoint that is no problem. */
export interface EndpointReply {
  readonly status: number;
  readonly description: string;
  /** The body by media type; `text` if it is no JSON. */
  readonly content?: Readonly<Record<string, z.ZodType | 'text'>>;
  /** Headers beside those that every reply has. */
  readonly headers?: EndpointHeaders;
}

/** Headers of a reply by name; an optional one is not in every such reply. */
export type EndpointHeaders = Readonly<Record<string, EndpointHeader>>;

export interface EndpointHeader {
  readonly description: string;
  readonly isOptional?: true;
}

/** Description of a route beside the reads. Each surface has a table of them, for OpenAPI and `/api`. */
export interface Endpoint {
  /** The operation id. Never changes once it is published. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces. */
  readonly path: string;
  readonly tag: EndpointTag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: {
    readonly path?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly header?: z.ZodObject;
  };
  /** Schema of the body by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  readonly isBodyOptional?: true;
  readonly replies: readonly EndpointReply[];
  /** Headers of every reply, problems too, beside those that all endpoints have. */
  readonly headers?: EndpointHeaders;
  /** Problems beside those of every route. */
  readonly problems: readonly ProblemCode[];
  /** `open`: everyone; `key`: with an optional key; `bearer`: with any bearer token; or the operator alone. */
  readonly access: 'open' | 'key' | 'bearer' | 'operator';
}
