import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import Fastify from 'fastify';

const { port, path, headers, body, database } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const bytes = Buffer.from(body);
const app = Fastify();
if (database !== undefined) new Database(database);

app.get(path, async (_request, reply) => reply.headers(headers).send(bytes));
await app.listen({ port, host: '127.0.0.1' });
