import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAtLeast } from './release.ts';
import { type ServerStart, type SessionServer, startServer } from './servers.ts';
import { silentMs } from './silent-checks.ts';

/**
 * Tests published eve clients with the built server and with a silent server. Arguments: Node.js binary for
 * Perch, folder with the packages installed as `eve-RELEASE`, releases. This script itself runs on a
 * Node.js version that the clients support. The exit code is 1 if a check fails.
 */
const [perchNode = '', folder = '', ...releases] = process.argv.slice(2);

const checkClient = fileURLToPath(new URL('check-client.ts', import.meta.url));
const silentServer = fileURLToPath(new URL('../support/session-server.ts', import.meta.url));
const wrapper = join(folder, 'wrapper.mjs');

/** Writes the wrapper from the documentation to a file, so that the clients test it. */
function writeWrapper(): void {
  const page = readFileSync('docs/sessions.md', 'utf8');
  const [, code] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  if (code === undefined) throw new Error('docs/sessions.md does not contain the wrapper.');
  writeFileSync(wrapper, code);
}

/** Client, kind of checks and server of a run. */
interface Run {
  readonly release: string;
  readonly host: string;
  readonly kind: 'answered' | 'silent';
  readonly title: string;
  readonly wraps: boolean;
}

/** Runs the checks of a client. Returns its title if one failed. */
async function runClient({ release, host, kind, title, wraps }: Run): Promise<readonly string[]> {
  const imports = wraps ? ['--import', wrapper] : [];
  const args = [...imports, checkClient, folder, release, host, kind, title];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const [code] = await once(child, 'exit');
  process.off('exit', kill);
  return code === 0 ? [] : [`eve ${release}, ${title}`];
}

const opened = new Map<string, Promise<SessionServer>>();

/** Returns the URL of a server. Servers with the same arguments and settings are shared. */
async function serve(given: Pick<ServerStart, 'args' | 'env'>): Promise<string> {
  const key = JSON.stringify(given);
  const server = opened.get(key) ?? startServer({ node: perchNode, folder, ...given });
  opened.set(key, server);
  return (await server).base;
}

const built = ['dist/main.js', 'serve'];

/** Settings: one turn at a time, so that a waiting one can be cancelled, and enough session starts for all checks. */
const busy = { PERCH_SESSION_TURNS_AT_ONCE: '1', PERCH_SESSION_START_BURST: '10000' };

/** Returns the settings that a release needs without the wrapper. */
function settingFor(release: string): Readonly<Record<string, string>> {
  return isAtLeast(release, '0.31.0')
    ? { PERCH_SESSION_TOKEN: 'optional' }
    : { PERCH_SESSION_STREAM_TOKEN: 'always' };
}

async function checkBuilt(): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const release of releases) {
    const setting = settingFor(release);
    const [told] = Object.entries(setting).map((pair) => pair.join('='));
    const common = { release, kind: 'answered' } as const;
    const wrapped = await serve({ args: built, env: busy });
    failed.push(
      ...(await runClient({ ...common, host: wrapped, title: 'with the wrapper', wraps: true })),
    );
    const env = { ...busy, PERCH_SESSION_PREFIX: 'eve', ...setting };
    const plain = await serve({ args: built, env });
    failed.push(
      ...(await runClient({ ...common, host: plain, title: `with ${told}`, wraps: false })),
    );
  }
  return failed;
}

/** Checks the silent server with all clients concurrently, because they mostly wait. */
async function checkSilent(): Promise<readonly string[]> {
  const host = await serve({
    args: ['--import', import.meta.resolve('tsx'), silentServer],
    env: { SILENT_MS: String(silentMs), PERCH_SESSION_TURNS_AT_ONCE: String(releases.length) },
  });
  const common = { host, kind: 'silent', title: 'silent turns', wraps: true } as const;
  return (await Promise.all(releases.map((release) => runClient({ release, ...common })))).flat();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
writeWrapper();
const failed = (await Promise.all([checkSilent(), checkBuilt()])).flat();
await Promise.all([...opened.values()].map(async (server) => (await server).stop()));
for (const name of failed) console.log(`clients: FAILED: ${name}`);
if (failed.length > 0) process.exit(1);
console.log('clients: ok');
