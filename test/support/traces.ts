import { type HrTime, SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { openTracing, type Tracing } from '../../src/lib/tracing/tracing.ts';

/** Finished span with the spans that have it as their parent, in the order of their starts. */
export interface TracedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: ReadableSpan['attributes'];
  readonly failed: boolean;
  /** Ids of the spans that this span links to. */
  readonly links: readonly string[];
  readonly children: readonly TracedSpan[];
}

/** Tracing into memory, which is not registered globally. */
export interface TraceRig {
  readonly tracing: Tracing;
  /** Returns the finished spans. */
  spans(): readonly ReadableSpan[];
  /** Returns the trees of the finished spans whose parent is not in this process. */
  roots(): readonly TracedSpan[];
}

/** Creates tracing whose finished spans the test can read. */
export function createTraceRig(): TraceRig {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracing = openTracing(new BasicTracerProvider({ spanProcessors }));
  if (tracing === null) throw new Error('The provider must turn tracing on.');
  const spans = () => exporter.getFinishedSpans();
  return { tracing, spans, roots: () => toTrees(spans()) };
}

const nanoseconds = ([seconds, rest]: HrTime): number => seconds * 1e9 + rest;

/** Returns the trees of spans. Spans with a remote parent, or without a parent, are roots. */
export function toTrees(spans: readonly ReadableSpan[]): readonly TracedSpan[] {
  const sorted = [...spans].sort((a, b) => nanoseconds(a.startTime) - nanoseconds(b.startTime));
  const toTree = (span: ReadableSpan): TracedSpan => {
    const { traceId, spanId } = span.spanContext();
    return {
      name: span.name,
      kind: span.kind,
      ...{ traceId, spanId },
      attributes: span.attributes,
      failed: span.status.code === SpanStatusCode.ERROR,
      links: span.links.map(({ context }) => context.spanId),
      children: sorted
        .filter(({ parentSpanContext: parent }) => parent?.spanId === spanId)
        .map(toTree),
    };
  };
  return sorted
    .filter(({ parentSpanContext: parent }) => parent === undefined || parent.isRemote === true)
    .map(toTree);
}

/** Returns the names of a span and of its descendants, indented by depth. */
export function outline({ name, children }: TracedSpan, depth = 0): readonly string[] {
  return [`${'  '.repeat(depth)}${name}`, ...children.flatMap((one) => outline(one, depth + 1))];
}
