import {
  type Attributes as ApiAttributes,
  type Context,
  context,
  createContextKey,
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
  /**
   * Marks the operation as failed. `errorType` is a code. A message is not allowed, because it
   * could contain texts of users.
   */
  fail(errorType: string): void;
  end(): void;
}

const tracerName = 'perch';

/**
 * Opens tracing with the OpenTelemetry SDK that the operator has loaded before Perch; returns `null` if there is none.
 * SDKs register a provider at a global symbol, so that each copy of `@opentelemetry/api` in the process finds it.
 */
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

/**
 * Returns the result of `work`. Ends `span` when `work` settles, and marks the span as failed if
 * `work` rejects. `span` is `undefined` if tracing is off.
 */
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

/**
 * Returns the code of a Problem, or the kind of another known failure. Returns `_OTHER`
 * (OpenTelemetry's fallback) for an unexpected error.
 */
export function toErrorType(error: unknown): string {
  if (error instanceof Problem) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  if ('kind' in error && typeof error.kind === 'string') return error.kind;
  return error.name === 'AbortError' || error.name === 'TimeoutError' ? 'aborted' : '_OTHER';
}

/** Returns the ids of the trace and the span as fields of a log line; an empty object if tracing is off. */
export function toLogFields(span: TraceSpan | undefined): Readonly<Record<string, string>> {
  if (span === undefined) return {};
  const { traceId, spanId } = span.spanContext;
  return { trace_id: traceId, span_id: spanId };
}

/** Key with which OpenTelemetry's SDKs mark work that must not be traced (`suppressTracing` of @opentelemetry/core). */
const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/**
 * Calls `send` so that instrumentation of HTTP clients, which the operator may have loaded, adds no headers such as
 * `traceparent` or `baggage`. These headers would reveal to platforms which requests belong together.
 */
export function withoutPropagation<Result>(send: () => Result): Result {
  return context.with(ROOT_CONTEXT.setValue(suppressed, true), send);
}
