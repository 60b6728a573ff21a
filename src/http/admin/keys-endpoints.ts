import { z } from 'zod';
import { keyChanges, keyMembers, newKey } from '../../access/keys/key-record.ts';
import type { Endpoint, EndpointReply } from '../../core/endpoint.ts';
import type { ProblemCode } from '../../core/problem.ts';

export const keysPath = '/api/admin/keys';

const madeKey = keyMembers
  .extend({ key: z.string().describe('The bearer key, shown this once.') })
  .meta({ id: 'MadeKey' });

const keyList = z.object({ keys: z.array(keyMembers) }).meta({ id: 'KeyList' });

const made: EndpointReply = {
  status: 201,
  description: 'The key was made.',
  content: { 'application/json': madeKey },
  headers: { Location: { description: 'The address of the key.' } },
};

interface KeysEndpoint extends Pick<Endpoint, 'id' | 'method' | 'summary' | 'body'> {
  readonly path?: string;
  readonly reply: EndpointReply;
}

function describeEndpoint({ path = '', reply, ...rest }: KeysEndpoint): Endpoint {
  const id = z.string().describe('The id of the key.');
  const bodyProblems: readonly ProblemCode[] = [
    'invalid_body',
    'invalid_option',
    'payload_too_large',
    'unsupported_media_type',
  ];
  return {
    ...rest,
    path: `${keysPath}${path}`,
    tag: 'operator',
    access: 'operator',
    ...(path === '' ? {} : { parameters: { path: z.object({ id }) } }),
    replies: [reply],
    problems: [
      ...(rest.method === 'GET' ? [] : bodyProblems),
      ...(path === '' ? [] : (['not_found'] as const)),
      'key_store_unavailable',
    ],
  };
}

function describeKey(description: string): EndpointReply {
  return { status: 200, description, content: { 'application/json': keyMembers } };
}

export const adminKeysEndpoints: readonly Endpoint[] = [
  describeEndpoint({
    id: 'listKeys',
    method: 'GET',
    summary: 'Lists the keys of callers.',
    reply: { status: 200, description: 'All keys.', content: { 'application/json': keyList } },
  }),
  describeEndpoint({
    id: 'createKey',
    method: 'POST',
    summary: 'Makes a key and shows it once.',
    body: { 'application/json': newKey },
    reply: made,
  }),
  describeEndpoint({
    id: 'getKey',
    method: 'GET',
    path: '/{id}',
    summary: 'Gives what is known of a key.',
    reply: describeKey('The key.'),
  }),
  describeEndpoint({
    id: 'changeKey',
    method: 'PATCH',
    path: '/{id}',
    summary: 'Changes a key; what is left out stays.',
    body: { 'application/json': keyChanges },
    reply: describeKey('The key, as it is now.'),
  }),
  describeEndpoint({
    id: 'deleteKey',
    method: 'DELETE',
    path: '/{id}',
    summary: 'Deletes a key; the next request with it is refused.',
    reply: { status: 204, description: 'The key is gone.' },
  }),
  describeEndpoint({
    id: 'rotateKey',
    method: 'POST',
    path: '/{id}/rotate',
    summary: 'Makes a new key with the fields of an old one, and deletes the old one.',
    reply: made,
  }),
];
