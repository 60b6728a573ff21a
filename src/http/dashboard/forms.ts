import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/problem.ts';

const formMediaType = 'application/x-www-form-urlencoded';

/**
 * Maximum size of a form in bytes. The longest field, a key's notes, has up to 2000 characters. A percent-encoded
 * character has up to 12 bytes, so this field has up to 24,000 bytes.
 */
const maxFormBytes = 65_536;

/** Restricts the request bodies of a Fastify scope to urlencoded forms. */
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
 * Rejects a submitted form unless the header `Sec-Fetch-Site` is `same-origin` or missing. Browsers send other values
 * if the form is on another website (https://www.w3.org/TR/fetch-metadata/).
 * @throws Problem `origin_not_allowed`
 */
export async function refuseOtherSites(request: FastifyRequest): Promise<void> {
  const { 'sec-fetch-site': site = 'same-origin' } = request.headers;
  if (isRead(request) || site === 'same-origin') return;
  const detail = 'The request comes from another website, which cannot change anything here.';
  throw new Problem('origin_not_allowed', { detail });
}

/** Returns whether a request has a method that changes nothing: GET or HEAD. */
export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
