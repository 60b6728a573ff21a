import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readApiPages } from '../support/api-pages.ts';
import { adminToken } from '../support/build-app.ts';
import { listen } from '../support/listen.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';

/** Name in the path of a command, for a value that the description does not have. */
const placeholder = /\/(?:ID|SESSIONID|FILE|ADDRESS|HASH|SIGNED)\b/;

it('shows commands that succeed on a server with the sample', async () => {
  const { app, port } = await listen(
    { PERCH_SESSIONS: 'on', PERCH_BASE_URL: 'http://localhost:8080' },
    { engine: createScriptedEngine() },
  );
  const body = await readApiPages(app);
  const commands = [...body.matchAll(/^curl (.*)$/gm)]
    .map(([, rest = '']) => rest)
    .filter((rest) => !placeholder.test(rest));
  const connect = `--connect-to localhost:8080:127.0.0.1:${port}`;
  const script = commands.map(
    (rest) => `curl -s -o /dev/null -w '%{http_code}\\n' ${connect} ${rest}`,
  );

  const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], {
    env: { PATH: process.env.PATH, PERCH_ADMIN_TOKEN: adminToken },
  });

  const statuses = stdout.trim().split('\n');
  const replies = commands.map((rest, at) => `${statuses[at]} ${rest}`);
  expect(replies.length).toBeGreaterThan(35);
  expect(replies.filter((reply) => !/^20[0-2] |^301 -I /.test(reply))).toEqual([]);
  const reads = replies.filter((reply) => reply.includes('ada.example'));
  expect(reads.length).toBeGreaterThan(12);
  expect(reads.filter((reply) => !/^(?:200|301 -I) /.test(reply))).toEqual([]);
});
