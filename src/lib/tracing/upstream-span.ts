import type { Attributes } from './span-table.ts';
import type { TraceSpan } from './tracing.ts';

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
