import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { inject, onTestFinished } from 'vitest';
import type { CheckName, Finding } from '../../src/cli/doctor/finding.ts';
import { freePort } from './engine-server.ts';
import { type RanHere, runHere } from './run-here.ts';
import { type PerchProcess, spawnPerch, temporaryFolder } from './spawn-perch.ts';

/** Document that `perch doctor --json` prints. */
interface DoctorReport {
  readonly version: string;
  readonly status: Finding['status'];
  readonly findings: readonly Finding[];
}

/** Result of `perch doctor --json`. */
export interface Diagnosis {
  readonly code: number | null;
  readonly report: DoctorReport;
  /** Everything that the command printed. */
  readonly output: string;
  /** Returns the findings of a check, one in each line: status, message and advice. */
  of(check: CheckName): string;
}

interface DoctorOptions {
  readonly args?: readonly string[];
  /** User id of the process. */
  readonly uid?: number | undefined;
}

/** Returns settings with which all checks pass and need no network. Each call uses another port and data folder. */
export async function healthySettings(): Promise<Record<string, string>> {
  const parent = temporaryFolder();
  chmodSync(parent, 0o755); // for tests that run as another user
  const folder = `${parent}/data`;
  mkdirSync(folder, { mode: 0o700 });
  return {
    PERCH_DATA_DIR: folder,
    PERCH_PROVIDERS: 'archive',
    PORT: String(await freePort()),
  };
}

/** Returns healthy settings with FxTwitter at `url` as the only provider that needs a network. */
export const withFxTwitter = async (url: string) => ({
  ...(await healthySettings()),
  PERCH_PROVIDERS: 'archive,fxtwitter',
  PERCH_FXTWITTER_URL: url,
});

/** Runs `perch doctor --json` with exactly these settings, in the test's process unless as another user. */
export async function runDoctor(
  env: Readonly<Record<string, string>>,
  { args = [], uid }: DoctorOptions = {},
): Promise<Diagnosis> {
  const all = ['doctor', '--json', ...args];
  const ended = uid === undefined ? runHere(all, env) : runAs(uid, all, env);
  const { code, stdout, stderr } = await ended;
  const output = stdout + stderr;
  if (!stdout.startsWith('{')) throw new Error(output);
  const report: DoctorReport = JSON.parse(stdout);
  const of = (check: CheckName) =>
    report.findings
      .filter((finding) => finding.check === check)
      .map(({ status, message, advice }) => `${status}: ${message} ${advice ?? ''}`.trim())
      .join('\n');
  return { code, report, output, of };
}

async function runAs(
  uid: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RanHere> {
  const run = promisify(execFile);
  const options = { cwd: '/', uid, gid: uid, env: { PATH: process.env.PATH ?? '', ...env } };
  return run(process.execPath, [inject('perchMain'), ...args], options).then(
    (written) => ({ code: 0, ...written }),
    (ended: RanHere) => ended,
  );
}

/** User without rights, for tests that run as root; otherwise `undefined`, the own user. */
export const otherUser = process.getuid?.() === 0 ? 65_534 : undefined;

/** Starts a server with these settings, and waits until it is ready. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<PerchProcess> {
  const perch = spawnPerch(['serve'], env);
  await perch.printed(/Perch is ready/);
  return perch;
}

/** Starts a reverse proxy on loopback that adds headers to each request. Returns its base URL. */
export async function startProxy(
  targetPort: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { url: path, method, headers: own } = incoming;
    const options = { port: targetPort, host: '127.0.0.1', path, method, agent: false as const };
    const forwarded = sendRequest({ ...options, headers: { ...own, ...headers } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return `http://127.0.0.1:${port}`;
}
