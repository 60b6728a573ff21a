import type { IncomingHttpHeaders } from 'node:http';
import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';

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
