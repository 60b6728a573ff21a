import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/** Group of endpoints in the document `/api`. */
export type EndpointTag =
  | 'discovery'
  | 'health'
  | 'mcp'
  | 'media'
  | 'operator'
  | 'pages'
  | 'permalink'
  | 'sessions'
  | 'v1';

/** Subject of operations: a tag in the OpenAPI document and a page of the API reference. */
export type Topic = 'posts' | 'profiles' | 'follows' | 'search' | 'history' | 'embeds' | 'feeds';

/** Documented response of an endpoint, except problem documents. */
export interface EndpointReply {
  readonly status: number;
  readonly description: string;
  /** Schemas of the body, by media type; `text` or `binary` if the body is not JSON. */
  readonly content?: Readonly<Record<string, z.ZodType | 'text' | 'binary'>>;
  /** Response headers, in addition to the headers of all responses. */
  readonly headers?: EndpointHeaders;
}

/** Headers of a response by name. An optional header may be absent. */
export type EndpointHeaders = Readonly<Record<string, EndpointHeader>>;

export interface EndpointHeader {
  readonly description: string;
  readonly isOptional?: true;
}

/** Route that reads no posts or accounts, as described in the OpenAPI document and `/api`. */
export interface Endpoint {
  /** OpenAPI operation id. A published id never changes. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its parameters in braces, for example `/sessions/{id}`. */
  readonly path: string;
  readonly tag: EndpointTag;
  /** Tag in the OpenAPI document. Default: the value of `tag`. */
  readonly topic?: Topic;
  /** Name in words that a reader would search, such as `Get a post`; OpenAPI's `summary`. */
  readonly title: string;
  /** Sentence about what the endpoint does. */
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
  /** Headers of all responses, including errors, in addition to the common headers. */
  readonly headers?: EndpointHeaders;
  /** Codes of the errors that the route can return, in addition to the errors of all routes. */
  readonly problems: readonly ProblemCode[];
  /** Credentials: none, an optional API key, any bearer token (`bearer`) or the admin token. */
  readonly access: 'open' | 'key' | 'bearer' | 'operator';
}
