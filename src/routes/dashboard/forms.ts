import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.ts';

const formMediaType = 'application/x-www-form-urlencoded';

/** Maximum form size in bytes. The longest field, 2000 percent-encoded characters, needs 24,000. */
const maxFormBytes = 65_536;

export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    formMediaType,
    { parseAs: 'string', bodyLimit: maxFormBytes },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  app.addContentTypeParser('*', async () => {
    const detail = `The pages of the dashboard accept only forms. Send \`${formMediaType}\`.`;
    throw new Problem('unsupported_media_type', { detail });
  });
}

/**
 * Rejects forms from other sites by the header `Sec-Fetch-Site`
 * (https://www.w3.org/TR/fetch-metadata/). Accepts a missing header.
 * @throws Problem `origin_not_allowed`
 */
export async function refuseOtherSites(request: FastifyRequest): Promise<void> {
  const { 'sec-fetch-site': site = 'same-origin' } = request.headers;
  if (isRead(request) || site === 'same-origin') return;
  const detail = 'The request comes from another website, which cannot change anything here.';
  throw new Problem('origin_not_allowed', { detail });
}

export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
