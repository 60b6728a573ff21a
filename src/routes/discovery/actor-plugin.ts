import type { KeyObject } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { SigningKey } from '../../lib/http/request-signatures.ts';
import { parseQuery } from '../../lib/http/url.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import { declareRoutes, refuseOthers, serveRoutes } from '../route.ts';

/** Actor that signs Perch's requests to ActivityPub servers, and the name that they know. */
export interface Actor extends SigningKey {
  readonly id: string;
  /** Address in the form of WebFinger, such as `perch@perch.example.org`. */
  readonly address: string;
  readonly publicKeyPem: string;
}

const paths = {
  actor: '/actor',
  inbox: '/actor/inbox',
  outbox: '/actor/outbox',
  webFinger: '/.well-known/webfinger',
} as const;

const userName = 'perch';

export function toActor(
  baseUrl: string,
  key: { readonly privateKey: KeyObject; readonly publicKeyPem: string },
): Actor {
  const id = `${baseUrl}${paths.actor}`;
  return { ...key, id, keyId: `${id}#main-key`, address: `${userName}@${new URL(baseUrl).host}` };
}

const activityType = 'application/activity+json';
const activity = z.looseObject({ id: z.url(), type: z.string() });
const webFinger = z.object({
  subject: z.string(),
  aliases: z.array(z.url()),
  links: z.array(z.object({ rel: z.string(), type: z.string(), href: z.url() })),
});

const shared = { method: 'GET', tag: 'discovery', access: 'open', problems: [] } as const;

/** Routes that exist only with `PERCH_ACTOR`. */
export const actorRoutes = declareRoutes(shared, {
  getActor: {
    path: paths.actor,
    title: 'Get the instance actor',
    summary: 'Returns the actor that signs requests to ActivityPub servers, with its public key.',
    replies: [{ status: 200, description: 'The actor.', content: { [activityType]: activity } }],
  },
  getActorOutbox: {
    path: paths.outbox,
    title: 'Get the outbox of the instance actor',
    summary: 'Returns an empty collection, because the actor publishes nothing.',
    replies: [
      { status: 200, description: 'The collection.', content: { [activityType]: activity } },
    ],
  },
  getWebFinger: {
    path: paths.webFinger,
    title: 'Find the instance actor',
    summary: 'Returns the address of the instance actor (WebFinger, RFC 7033).',
    parameters: {
      query: z.object({
        resource: z.string().describe('`acct:` URI or URL of the instance actor.'),
      }),
    },
    replies: [
      {
        status: 200,
        description: 'The actor’s address.',
        content: { 'application/jrd+json': webFinger },
      },
    ],
    problems: ['invalid_option', 'not_found'],
  },
});

/** Registers the instance actor. Servers read it to verify the signatures of Perch's requests. */
export async function actorPlugin(
  app: FastifyInstance,
  { actor, baseUrl }: { readonly actor: Actor; readonly baseUrl: string },
): Promise<void> {
  const send = (type: string, body: unknown) => {
    const bytes = toJsonBody(body);
    return (_request: FastifyRequest, reply: FastifyReply) =>
      reply.headers({ 'content-type': type, 'cache-control': 'public, max-age=3600' }).send(bytes);
  };
  const sendFinger = send('application/jrd+json; charset=utf-8', describeFinger(actor));
  const type = `${activityType}; charset=utf-8`;
  serveRoutes(app, actorRoutes, {
    getActor: send(type, describeActor(actor, baseUrl)),
    getActorOutbox: send(type, describeOutbox(baseUrl)),
    getWebFinger: (request, reply) => {
      requireActor(request.url, actor);
      return sendFinger(request, reply);
    },
  });
  refuseOthers(app, paths.inbox, [], { detail: 'The instance actor accepts no activities.' });
}

function requireActor(url: string, { id, address }: Actor): void {
  const { resource } = parseQuery(url);
  if (typeof resource !== 'string' || resource === '') {
    const detail = 'Send the parameter `resource` once, with the address of an account.';
    throw new Problem('invalid_option', { detail, param: 'resource' });
  }
  if (resource !== `acct:${address}` && resource !== id) {
    throw new Problem('not_found', { detail: `There is no account ${quoteInput(resource)} here.` });
  }
}

function describeActor({ id, keyId, publicKeyPem }: Actor, baseUrl: string) {
  return {
    '@context': ['https://www.w3.org/ns/activitystreams', 'https://w3id.org/security/v1'],
    id,
    type: 'Application',
    preferredUsername: userName,
    name: 'Perch',
    summary: `Reads public posts for people who ask for them, at ${baseUrl}. Sends no activities.`,
    url: baseUrl,
    inbox: `${baseUrl}${paths.inbox}`,
    outbox: `${baseUrl}${paths.outbox}`,
    manuallyApprovesFollowers: true,
    discoverable: false,
    indexable: false,
    publicKey: { id: keyId, owner: id, publicKeyPem },
  };
}

function describeOutbox(baseUrl: string) {
  return {
    '@context': 'https://www.w3.org/ns/activitystreams',
    id: `${baseUrl}${paths.outbox}`,
    type: 'OrderedCollection',
    totalItems: 0,
    orderedItems: [],
  };
}

function describeFinger({ id, address }: Actor): z.output<typeof webFinger> {
  return {
    subject: `acct:${address}`,
    aliases: [id],
    links: [{ rel: 'self', type: activityType, href: id }],
  };
}
