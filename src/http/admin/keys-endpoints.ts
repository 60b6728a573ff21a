import { z } from 'zod';
import { keyChanges, keyMembers, newKey } from '../../access/keys/key-record.ts';
import type { Endpoint, EndpointReply } from '../../core/endpoint.ts';
import type { ProblemCode } from '../../core/problem.ts';

/** Where the keys of callers are administered. */
export const keysPath = '/api/admin/keys';

/** A key that was just made; only this reply tells it. */
const madeKey = keyMembers
  .extend({ key: z.string().describe('The bearer key, shown this once.') })
  .meta({ id: 'MadeKey' });

const keyList = z.object({ keys: z.array(keyMembers) }).meta({ id: 'KeyList' });

const oneKey = { path: z.object({ id: z.string().describe('The id of the key.') }) };

/** What every route that reads a body can refuse of it. */
const bodyProblems = [
  'invalid_body',
  'invalid_option',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly ProblemCode[];

const made: EndpointReply = {
  status: 201,
  description: 'The key was made.',
  content: { 'application/json': madeKey },
  headers: { Location: { description: 'The address of the key.' } },
};

const operator = { tag: 'operator', access: 'operator' } as const;

/** The routes of the admin interface, as the machine description tells of them. */
export const adminKeysEndpoints: readonly Endpoint[] = [
  {
    ...operator,
    id: 'listKeys',
    method: 'GET',
    path: keysPath,
    summary: 'Lists the keys of callers.',
    replies: [{ status: 200, description: 'All keys.', content: { 'application/json': keyList } }],
    problems: ['key_store_unavailable'],
  },
  {
    ...operator,
    id: 'createKey',
    method: 'POST',
    path: keysPath,
    summary: 'Makes a key and shows it once.',
    body: { 'application/json': newKey },
    replies: [made],
    problems: [...bodyProblems, 'key_store_unavailable'],
  },
  {
    ...operator,
    id: 'getKey',
    method: 'GET',
    path: `${keysPath}/{id}`,
    summary: 'Gives what is known of a key.',
    parameters: oneKey,
    replies: [
      { status: 200, description: 'The key.', content: { 'application/json': keyMembers } },
    ],
    problems: ['not_found', 'key_store_unavailable'],
  },
  {
    ...operator,
    id: 'changeKey',
    method: 'PATCH',
    path: `${keysPath}/{id}`,
    summary: 'Changes a key; what is left out stays.',
    parameters: oneKey,
    body: { 'application/json': keyChanges },
    replies: [
      {
        status: 200,
        description: 'The key, as it is now.',
        content: { 'application/json': keyMembers },
      },
    ],
    problems: [...bodyProblems, 'not_found', 'key_store_unavailable'],
  },
  {
    ...operator,
    id: 'deleteKey',
    method: 'DELETE',
    path: `${keysPath}/{id}`,
    summary: 'Deletes a key; the next request with it is refused.',
    parameters: oneKey,
    replies: [{ status: 204, description: 'The key is gone.' }],
    problems: [...bodyProblems, 'not_found', 'key_store_unavailable'],
  },
  {
    ...operator,
    id: 'rotateKey',
    method: 'POST',
    path: `${keysPath}/{id}/rotate`,
    summary: 'Makes a new key with the fields of an old one, and deletes the old one.',
    parameters: oneKey,
    replies: [made],
    problems: [...bodyProblems, 'not_found', 'key_store_unavailable'],
  },
];
