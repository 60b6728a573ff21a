import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attributes as ApiAttributes,
  type Context,
  context,
  createContextKey,
  createTraceState,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { Problem } from '../problem.ts';
import { version } from '../version.ts';
import { type Attributes, type SpanType, spanTable } from './span-table.ts';

interface SpanOptions {
  /** Name of the span. Default: the name in `spanTable`. */
  readonly name?: string;
  readonly attributes?: Attributes;
  /** Spans of other traces that this span depends on. `undefined` entries are ignored. */
  readonly links?: readonly (Pick<TraceSpan, 'spanContext'> | undefined)[];
}

interface RootOptions extends SpanOptions {
  /** Span of the caller in another process; `null` if this span begins a new trace. */
  readonly parent?: SpanContext | null;
}

/** Tracer that starts spans. If tracing is off, functions get `null` instead of a `Tracing`. */
export interface Tracing {
  /** Starts a span that has no parent span, or whose parent span is in another process. */
  start(type: SpanType, options?: RootOptions): TraceSpan;
}

/** Span in progress. Code passes the span on explicitly, so that tracing needs no global state. */
export interface TraceSpan {
  readonly spanContext: SpanContext;
  startChild(type: SpanType, options?: SpanOptions): TraceSpan;
  /** Starts the first span of a new trace, with a link to this span. */
  startLinked(type: SpanType, options?: SpanOptions): TraceSpan;
  set(attributes: Attributes): void;
  /** Marks the span as failed. Takes a code, as a message could contain texts of users. */
  fail(errorType: string): void;
  end(): void;
}

const tracerName = 'perch';

/** Opens tracing with the OpenTelemetry SDK loaded before Perch; returns `null` without one. */
export function openTracing(provider: TracerProvider = trace.getTracerProvider()): Tracing | null {
  const isUnset =
    provider instanceof ProxyTracerProvider &&
    provider.getDelegateTracer(tracerName, version) === undefined;
  if (isUnset) return null;
  const tracer = provider.getTracer(tracerName, version);
  return {
    start: (type, { parent = null, ...options } = {}) =>
      startSpan(tracer, type, options, {
        context: parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
      }),
  };
}

interface Parent {
  readonly context: Context;
  /** Value of the attribute `perch.provider`, which child spans inherit. */
  readonly provider?: Attributes['perch.provider'];
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

function startSpan(
  tracer: Tracer,
  type: SpanType,
  { name, attributes, links = [] }: SpanOptions,
  parent: Parent,
): TraceSpan {
  const { name: usualName, kind } = spanTable[type];
  const provider = attributes?.['perch.provider'] ?? parent.provider;
  const span = tracer.startSpan(
    name ?? usualName ?? type,
    {
      kind: kinds[kind],
      attributes: toGiven({ ...attributes, 'perch.provider': provider }),
      links: links.flatMap((link): Link[] => (link ? [{ context: link.spanContext }] : [])),
    },
    parent.context,
  );
  const own = { context: trace.setSpan(parent.context, span), provider };
  const traceSpan: TraceSpan = {
    spanContext: span.spanContext(),
    startChild: (child, options = {}) => startSpan(tracer, child, options, own),
    startLinked: (other, options = {}) =>
      startSpan(tracer, other, { ...options, links: [traceSpan] }, { context: ROOT_CONTEXT }),
    set: (more) => void span.setAttributes(toGiven(more)),
    fail: (errorType) => {
      span.setAttribute('error.type' satisfies keyof Attributes, errorType);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => span.end(),
  };
  return traceSpan;
}

function toGiven(attributes: Attributes): ApiAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Returns the result of `work`. Ends `span` when it settles, as failed if it rejects. */
export function endWith<Result>(
  span: TraceSpan | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (span === undefined) return work;
  const fail = (error: unknown) => {
    span.fail(toErrorType(error));
    throw error;
  };
  return work.catch(fail).finally(span.end);
}

/** Returns the code or kind of a known failure; otherwise `_OTHER` (OpenTelemetry's fallback). */
export function toErrorType(error: unknown): string {
  if (error instanceof Problem) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  if ('kind' in error && typeof error.kind === 'string') return error.kind;
  return error.name === 'AbortError' || error.name === 'TimeoutError' ? 'aborted' : '_OTHER';
}

/** Returns the ids of trace and span as log fields; an empty object if tracing is off. */
export function toLogFields(span: TraceSpan | undefined): Readonly<Record<string, string>> {
  if (span === undefined) return {};
  const { traceId, spanId } = span.spanContext;
  return { trace_id: traceId, span_id: spanId };
}

const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Calls `send` without headers such as `traceparent`, which would reveal related requests. */
export function withoutPropagation<Result>(send: () => Result): Result {
  return context.with(ROOT_CONTEXT.setValue(suppressed, true), send);
}

const traceparentForm = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

const maxTraceparent = 128;

const maxTracestate = 512;

/** Returns the caller's span (https://www.w3.org/TR/trace-context/); `null` without a valid one. */
export function readTraceContext({
  traceparent,
  tracestate,
}: IncomingHttpHeaders): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > maxTraceparent) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    traceparentForm.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return null;
  // The only flag that all versions have is `sampled`.
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  if (!isSpanContextValid(parent)) return null;
  if (typeof tracestate !== 'string' || tracestate.length > maxTracestate) return parent;
  return { ...parent, traceState: createTraceState(tracestate) };
}

interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  /** Number of earlier requests that led to this request by a redirect or a retry. */
  readonly resendCount: number;
  readonly model?: string | undefined;
}

/** Starts a span with the host only: path and query can contain handles, ids and search texts. */
export function startUpstreamSpan(
  parent: TraceSpan | undefined,
  { method, url, resendCount, model }: UpstreamRequest,
): TraceSpan | undefined {
  const attributes = {
    'http.request.method': method,
    ...toServerAttributes(url),
    'http.request.resend_count': resendCount === 0 ? undefined : resendCount,
    'gen_ai.request.model': model,
  };
  return parent?.startChild('upstream', { name: method, attributes });
}

/** Records a status, from 400 on as a failure (OpenTelemetry, HTTP client spans). */
export function recordStatus(span: TraceSpan | undefined, status: number): void {
  span?.set({ 'http.response.status_code': status });
  if (status >= 400) span?.fail(String(status));
}

export function toServerAttributes({ protocol, hostname, port }: URL): Attributes {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return {
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
  };
}
