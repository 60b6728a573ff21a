import { answerHtml, answerText, type FakeHandler } from '../fake-upstream.ts';

/** JSON object of a server. */
export type Json = Readonly<Record<string, unknown>>;

/** Answer to a request for a path. */
export interface Document {
  readonly body: Json | string;
  /** Value of `Content-Type`. Default: the media type of ActivityPub. */
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Documents = Readonly<Record<string, Document>>;

export const activityJson = 'application/activity+json; charset=utf-8';
export const publicly = 'https://www.w3.org/ns/activitystreams#Public';

/** Creates the handler of a server that has these documents, and an HTML page for all else. */
export const serveDocuments =
  (documents: Documents): FakeHandler =>
  (request, response) => {
    const found = documents[request.url ?? ''];
    if (found === undefined) {
      answerHtml(response, { status: 404 });
      return;
    }
    const { body, type = activityJson, status = 200, headers = {} } = found;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    answerText(response, { type, text }, { status, headers });
  };

/** Returns the documents of objects by the paths of their ids. */
export const byId = (...objects: readonly Json[]): Documents =>
  Object.fromEntries(objects.map((body) => [pathOf(String(body.id)), { body }]));

export function pathOf(id: string): string {
  const { pathname, search } = new URL(id);
  return `${pathname}${search}`;
}

/** Returns an account. `fields` replaces members. */
export function actorOf(host: string, name: string, fields: Json = {}): Json {
  const id = String(fields.id ?? `https://${host}/users/${name}`);
  return {
    '@context': 'https://www.w3.org/ns/activitystreams',
    type: 'Person',
    preferredUsername: name,
    name: `${name} of ${host}`,
    summary: `<p>${name} writes</p>`,
    url: `https://${host}/@${name}`,
    inbox: `${id}/inbox`,
    outbox: `${id}/outbox`,
    followers: `${id}/followers`,
    following: `${id}/following`,
    published: '2023-01-05T00:00:00Z',
    ...fields,
    id,
  };
}

/** Returns a public note. `fields` replaces members. */
export function noteOf(author: Json, id: string, fields: Json = {}): Json {
  return {
    '@context': 'https://www.w3.org/ns/activitystreams',
    type: 'Note',
    id,
    attributedTo: author.id,
    content: `<p>A note at ${id}</p>`,
    published: '2026-01-02T03:04:05Z',
    to: [publicly],
    cc: [`${author.id}/followers`],
    ...fields,
  };
}

/** Returns the answer of WebFinger for an account. */
export function fingerOf(actor: Json, handle: string): Documents {
  const path = `/.well-known/webfinger?resource=${encodeURIComponent(`acct:${handle}`)}`;
  const links = [
    { rel: 'http://webfinger.net/rel/profile-page', type: 'text/html', href: actor.url },
    { rel: 'self', type: 'application/activity+json', href: actor.id },
  ];
  return { [path]: { body: { subject: `acct:${handle}`, links }, type: 'application/jrd+json' } };
}
