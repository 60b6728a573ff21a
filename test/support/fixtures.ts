import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { answerJson, type FakeHandler } from './fake-upstream.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

/** Folder of the recorded upstream responses: `PERCH_FIXTURES`, or a folder beside the repository. */
export const fixturesFolder = resolve(
  projectDir,
  process.env.PERCH_FIXTURES || '../shared/fixtures/upstream',
);

/** Whether the recorded responses exist. They are not part of the repository. */
export const fixturesPresent = existsSync(fixturesFolder);

const fixtureFile = z.object({
  request: z.object({ method: z.string(), url: z.string() }),
  response: z.object({
    status: z.number().int(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
    text: z.string().optional(),
  }),
});

/** Recorded exchange. Responses other than JSON have `text` in place of `body`. */
export type Fixture = z.output<typeof fixtureFile>;

/** Lists the recordings below a folder such as `fxtwitter/thread`, sorted. A missing folder has none. */
export function listFixtures(folder: string): readonly string[] {
  const path = join(fixturesFolder, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name))
    .sort();
}

/** Reads a recording by its path below the folder. */
export function readFixture(name: string): Fixture {
  return fixtureFile.parse(JSON.parse(readFileSync(join(fixturesFolder, name), 'utf8')));
}

/** Responds with the status, headers and body of a recording. */
export function answerFixture(response: ServerResponse, { response: recorded }: Fixture): void {
  response.writeHead(recorded.status, recorded.headers);
  response.end('body' in recorded ? JSON.stringify(recorded.body) : recorded.text);
}

/**
 * Creates a handler that responds with the recordings in some folders. It selects the first recording with
 * the same path and query, or else with the same path and `id`. Other requests get an empty 404.
 */
export function serveFixtures(...folders: readonly string[]): FakeHandler {
  const fixtures = folders.flatMap(listFixtures).map(readFixture);
  return (request, response) => {
    const asked = new URL(request.url ?? '/', 'http://fixtures.example');
    const same = fixtures.filter(
      ({ request: { url } }) => new URL(url).pathname === asked.pathname,
    );
    const found =
      same.find(({ request: { url } }) => keyOf(new URL(url)) === keyOf(asked)) ??
      same.find(({ request: { url } }) => idOf(new URL(url)) === idOf(asked));
    if (found === undefined) answerJson(response, {}, { status: 404 });
    else answerFixture(response, found);
  };
}

function keyOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&');
}

function idOf({ searchParams }: URL): string | null {
  return searchParams.get('id');
}
