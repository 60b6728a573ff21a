import { readFileSync } from 'node:fs';
import Fastify from 'fastify';

const { port, path, headers, body } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const bytes = Buffer.from(body);
const app = Fastify();

app.get(path, async (_request, reply) => reply.headers(headers).send(bytes));
await app.listen({ port, host: '127.0.0.1' });
