import { answerJson, type FakeHandler } from './fake-upstream.ts';
import { upstream } from './listen.ts';

/** Span as OTLP's JSON encoding has it (https://opentelemetry.io/docs/specs/otlp/). */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
}

/** Collector that receives spans on loopback. */
export interface Collector {
  readonly url: string;
  /** Received spans, oldest first. */
  readonly spans: readonly CollectedSpan[];
  /** Names of the services that sent the spans. */
  readonly services: ReadonlySet<string>;
}

interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

/** Starts a collector for spans in OTLP over HTTP. It is closed at the end of the test. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const services = new Set<string>();
  const receive: FakeHandler = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body: TracesBody = JSON.parse(Buffer.concat(chunks).toString());
      for (const { resource, scopeSpans } of body.resourceSpans) {
        const name = resource.attributes.find(({ key }) => key === 'service.name');
        services.add(name?.value.stringValue ?? '');
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      answerJson(response, {});
    });
  };
  const { url } = await upstream(receive);
  return { url, spans, services };
}
