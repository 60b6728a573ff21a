import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

type Members = Readonly<Record<string, unknown>>;

/** Function that a request declares to the model, with its parameters in the schema language of the Gemini API. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: Members;
}

/** Request of the Gemini API (https://ai.google.dev/api/generate-content). */
export interface GeminiRequest {
  readonly contents: readonly { readonly parts: readonly Members[] }[];
  readonly tools: readonly { readonly functionDeclarations: readonly FunctionDeclaration[] }[];
}

/** Server in place of the Gemini API. The model first calls one function, and then says a word. */
export async function openGemini(call: { readonly name: string; readonly args: Members }) {
  const requests: GeminiRequest[] = [];
  const server = createServer(async (request, response) => {
    requests.push((await json(request)) as GeminiRequest);
    const part = requests.length === 1 ? { functionCall: call } : { text: 'Done.' };
    const content = { role: 'model', parts: [part] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Types of the Gemini API, and the members that a schema of each type can have besides `description`. */
const members: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required'],
  array: ['items'],
  string: ['enum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  number: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
};

/** Returns what the Gemini API would refuse in a schema (https://ai.google.dev/api/caching#Schema). */
export function faultsOf(schema: Members, path: string): readonly string[] {
  const type = String(schema.type).toLowerCase();
  const allowed = members[type];
  if (allowed === undefined) return [`${path} has the type ${schema.type}`];
  const others = Object.keys(schema).filter(
    (name) => !['type', 'description', ...allowed].includes(name),
  );
  const inner = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Members>>);
  return [
    ...others.map((name) => `${path} has ${name}`),
    ...inner.flatMap(([name, property]) => faultsOf(property, `${path}.${name}`)),
  ];
}
