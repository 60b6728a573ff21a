import type { RequestContext } from '../../core/http/http-client.ts';
import type { PostReference } from '../../model/reference.ts';
import { splitHandle } from '../../platforms/mastodon/identity.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { AskServer } from './servers.ts';

const objectId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const noticePath = /^\/notice\/([\w-]{1,64})$/;

/** Reads a post. If it is missing, follows an object id of Pleroma or Akkoma to its notice. */
export async function readByObject<Found>(
  askServer: AskServer,
  { post, context }: { readonly post: PostReference; readonly context: RequestContext },
  read: (id: string) => Promise<Found>,
): Promise<Found> {
  try {
    return await read(post.id);
  } catch (error) {
    const isMissing = error instanceof ProviderError && error.kind === 'missing';
    const id = isMissing ? await findNotice(askServer, post, context) : undefined;
    if (id === undefined) throw error;
    return read(id);
  }
}

async function findNotice(
  askServer: AskServer,
  { handle, id }: PostReference,
  context: RequestContext,
): Promise<string | undefined> {
  if (!objectId.test(id)) return undefined;
  const { domain } = splitHandle(handle ?? '');
  const page = { ...context, accept: 'text/html', maxRedirects: 0 };
  const reply = await askServer(domain, `/objects/${id}`, page);
  const path = reply.is === 'no api' ? reply.location?.pathname : undefined;
  return noticePath.exec(path ?? '')?.[1];
}
