import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/** Group of endpoints, written as a tag of the OpenAPI document. */
export type EndpointTag =
  | 'discovery'
  | 'health'
  | 'mcp'
  | 'operator'
  | 'pages'
  | 'permalink'
  | 'sessions';

/** Documented reply of an endpoint, other than a problem document. */
export interface EndpointReply {
  readonly status: number;
  readonly description: string;
  /** Schema of the body by media type, or `text` if the body is not JSON. */
  readonly content?: Readonly<Record<string, z.ZodType | 'text'>>;
  /** Headers in addition to those of every reply. */
  readonly headers?: EndpointHeaders;
}

/** Headers of a reply by name. An optional header may be absent. */
export type EndpointHeaders = Readonly<Record<string, EndpointHeader>>;

export interface EndpointHeader {
  readonly description: string;
  readonly isOptional?: true;
}

/** Description of a route that is not a read, for the OpenAPI document and `/api`. */
export interface Endpoint {
  /** OpenAPI operation id. A published id never changes. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its parameters in braces, for example `/sessions/{id}`. */
  readonly path: string;
  readonly tag: EndpointTag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: {
    readonly path?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly header?: z.ZodObject;
  };
  readonly body?: Readonly<Record<string, z.ZodType>>;
  readonly isBodyOptional?: true;
  readonly replies: readonly EndpointReply[];
  /** Headers of every reply of this endpoint, including problems, in addition to the common ones. */
  readonly headers?: EndpointHeaders;
  /** Codes of the errors that the route can return, in addition to those of every route. */
  readonly problems: readonly ProblemCode[];
  /** `open`: no credentials; `key`: an optional key; `bearer`: any bearer token; `operator`: the admin token. */
  readonly access: 'open' | 'key' | 'bearer' | 'operator';
}
