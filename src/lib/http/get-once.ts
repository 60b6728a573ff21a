import type { IncomingHttpHeaders } from 'node:http';

export interface OnceAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** First 64 KiB of the body, decoded as UTF-8. */
  readonly text: string;
}

interface OnceOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Maximum size of a body in bytes. The rest of a longer body is not read. */
const maxBytes = 65_536;

/** Sends one GET request, without redirects. Loads no packages: `perch health` starts fast. */
export async function getOnce(url: URL, { headers, signal }: OnceOptions): Promise<OnceAnswer> {
  const { get } =
    url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const options = { signal, agent: false, headers: { accept: '*/*', ...headers } };
    const request = get(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = () => {
        const { statusCode = 0, headers: received } = response;
        const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
        resolve({ status: statusCode, headers: received, text });
        request.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= maxBytes) finish();
      });
      response.on('end', finish).on('error', reject);
    });
    request.on('error', reject);
  });
}

/** Returns the code or message of an error of `getOnce`; for several addresses, the first. */
export function codeOfFailure(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  if (!(first instanceof Error)) return String(first);
  return 'code' in first && typeof first.code === 'string' ? first.code : first.message;
}
