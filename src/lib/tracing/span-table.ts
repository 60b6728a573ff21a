/** Meanings of span attributes. Names without `perch.` are OpenTelemetry conventions. */
export const attributeMeanings = {
  'http.request.method': 'HTTP method; `_OTHER` for an uncommon method',
  'http.route': 'pattern of the path, such as `/:handle/status/:id`; absent if no route matches',
  'http.response.status_code': 'HTTP status; absent if no response was sent or received',
  'http.request.resend_count':
    'number of the retry or redirect, starting with 1; absent for the first request',
  'url.scheme': '`http` or `https`',
  'url.path': 'path of the request; only for routes without parameters',
  'server.address': 'host name, from `PERCH_BASE_URL` or from the URL of the upstream request',
  'server.port': 'port of the server',
  'network.protocol.version': 'HTTP version',
  'error.type':
    '[error code](errors.md), HTTP status, or kind of failure, such as `timeout`; absent if the operation did not fail',
  'mcp.method.name': '`tools/call`',
  'gen_ai.tool.name': 'name of the MCP tool',
  'gen_ai.request.model': 'value of `PERCH_MODEL`',
  'perch.request_id': 'value of the `X-Request-Id` header in the response',
  'perch.problem.code': '[error code](errors.md) of the response',
  'perch.cache.state': '`hit`, `miss`, `stale` or `bypass`',
  'perch.wait.for': '`request`, or `instance` if another instance fetches the data',
  'perch.query.kind': '`post`, `profile`, `timeline`, `search` and so on',
  'perch.provider': 'name of the provider',
  'perch.format': 'format of the response, such as `markdown`',
  'perch.turn.outcome': '`completed`, `cancelled`, `failed` or `gone` (the session was deleted)',
  'perch.turn.failure': 'error code if Perch failed to answer the message, such as `turn_timeout`',
  'perch.turn.abstained':
    '`true` if Perch found no answer to the message in its [documents](answers.md), or is not sure that it did',
} as const;

export type AttributeName = keyof typeof attributeMeanings;

/** Values of span attributes by name. Attributes with the value `undefined` are not set. */
export type Attributes = Readonly<
  Partial<Record<AttributeName, string | number | boolean | undefined>>
>;

interface SpanDefinition {
  /** Name of the spans; `null` if each span's name depends on its operation. */
  readonly name: string | null;
  /** Template of the names if `name` is `null`, such as `tools/call {gen_ai.tool.name}`. */
  readonly form?: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly about: string;
  readonly attributes: readonly AttributeName[];
}

/** Spans that Perch creates. `docs/tracing.md` lists the same spans. */
export const spanTable = {
  request: {
    name: null,
    form: '{http.request.method} {http.route}',
    kind: 'server',
    about: 'a request to Perch, until the end of the response',
    attributes: [
      'http.request.method',
      'http.route',
      'url.scheme',
      'url.path',
      'server.address',
      'server.port',
      'network.protocol.version',
      'http.response.status_code',
      'error.type',
      'perch.request_id',
      'perch.problem.code',
      'perch.cache.state',
    ],
  },
  toolCall: {
    name: null,
    form: 'tools/call {gen_ai.tool.name}',
    kind: 'server',
    about: 'a call of an [MCP](mcp.md) tool',
    attributes: ['mcp.method.name', 'gen_ai.tool.name', 'error.type', 'perch.cache.state'],
  },
  cache: {
    name: 'perch.cache',
    kind: 'internal',
    about: 'the search for the data in the [cache](caching.md)',
    attributes: ['perch.cache.state', 'error.type'],
  },
  wait: {
    name: 'perch.wait',
    kind: 'internal',
    about:
      'waiting for data that another request is already fetching, with a link to the span of that request',
    attributes: ['perch.wait.for', 'error.type'],
  },
  revalidation: {
    name: 'perch.revalidation',
    kind: 'internal',
    about:
      'fetching fresh data after a stale response was sent; a separate trace, with a link to the request',
    attributes: ['error.type'],
  },
  chain: {
    name: 'perch.chain',
    kind: 'internal',
    about: 'queries to the [providers](providers.md) in order, until a provider returns the data',
    attributes: ['perch.query.kind', 'perch.provider', 'error.type'],
  },
  provider: {
    name: 'perch.provider',
    kind: 'internal',
    about:
      'a query to one provider; without child spans if Perch sends no request, for example while the [provider is down](providers.md#what-happens-when-x-or-another-source-is-down)',
    attributes: ['perch.provider', 'error.type'],
  },
  upstream: {
    name: null,
    form: '{http.request.method}',
    kind: 'client',
    about:
      'one request to a platform, or to the [language model](answers.md#use-a-language-model) that you have configured',
    attributes: [
      'http.request.method',
      'url.scheme',
      'server.address',
      'server.port',
      'http.request.resend_count',
      'http.response.status_code',
      'error.type',
      'perch.provider',
      'gen_ai.request.model',
    ],
  },
  render: {
    name: 'perch.render',
    kind: 'internal',
    about: 'rendering the response; absent if the rendered response is cached',
    attributes: ['perch.format', 'error.type'],
  },
  turn: {
    name: 'perch.turn',
    kind: 'internal',
    about:
      'answering a message of a [session](sessions.md); a separate trace, with a link to the request that sent the message',
    attributes: ['perch.turn.outcome', 'perch.turn.failure', 'perch.turn.abstained', 'error.type'],
  },
} as const satisfies Record<string, SpanDefinition>;

export type SpanType = keyof typeof spanTable;
