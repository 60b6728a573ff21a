import { get } from 'node:http';
import { listenDefaults } from '../config/listen-defaults.ts';
import { gatherSettings } from '../config/sources.ts';
import { listenOptions, toListenSettings, withOptions } from './arguments.ts';
import { type BareBody, type BareContext, exitCodes, UsageError } from './command.ts';

/** Maximum time in milliseconds for the whole check. */
const timeoutMs = 4000;
/** Maximum size of the reply in bytes that is read. The reply of Perch has about 2 KiB. */
const maxBytes = 65_536;

/**
 * Command `perch health`, which checks whether the server on this machine is ready. It loads neither the schemas of the
 * settings nor an HTTP library, because containers run it every few seconds.
 */
export const healthCommand: BareBody = {
  isBare: true,
  exits: 'Exit code: 0 ready, 1 not ready, 2 bad usage.',
  ...withOptions(listenOptions, (values, positionals) => {
    if (positionals.length > 0) throw new UsageError('health takes no arguments.');
    return async ({ sources, stdout, stderr }: BareContext) => {
      const target = readTarget({ ...sources, options: toListenSettings(values) });
      const fault = 'fault' in target ? target.fault : await findFault(target);
      if (fault === null) {
        stdout.write('The server is ready.\n');
        return exitCodes.ok;
      }
      stderr.write(`perch: ${fault}\n`);
      return exitCodes.notReady;
    };
  }),
};

type Target = Readonly<{ host: string; port: number }>;

/** Returns the address of the server from the settings, or a message why there is none. */
function readTarget(sources: Parameters<typeof gatherSettings>[0]): Target | { fault: string } {
  const { settings, faults } = gatherSettings(sources, []);
  if (faults.length > 0) return { fault: faults.map(({ message }) => message).join('\n') };
  const host = settings.get('HOST')?.value ?? listenDefaults.host;
  const port = settings.get('PORT')?.value ?? String(listenDefaults.port);
  if (/^[1-9]\d{0,4}$/.test(port)) return { host: reachable[host] ?? host, port: Number(port) };
  return {
    fault: `PORT is ${JSON.stringify(port)}. Set PORT, or the option --port, to the port of the server.`,
  };
}

/** Addresses of this machine for servers that listen on all addresses. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Requests `/health/ready`. Returns the reason why the server is not ready; `null` if it is ready. */
async function findFault({ host, port }: Target): Promise<string | null> {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    const { status, text } = await fetchReadiness({ host, port });
    if (status === 200 && /^\{"status":"ready"[,}]/.test(text)) return null;
    if (text.includes('"code":"shutting_down"')) return 'The server is shutting down.';
    return `The program at ${place} answered /health/ready with the status ${status}, and not as Perch does. Check HOST and PORT.`;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return reason === 'ABORT_ERR'
      ? `The server at ${place} did not answer within ${timeoutMs / 1000} seconds.`
      : `The server at ${place} cannot be reached (${reason}). Start it with \`perch serve\`, or check HOST and PORT.`;
  }
}

function fetchReadiness({ host, port }: Target): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const options = { host, port, path: '/health/ready', signal, agent: false };
    const request = get(options, (response) => {
      let text = '';
      const finish = () => {
        resolve({ status: response.statusCode ?? 0, text });
        request.destroy();
      };
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxBytes) finish();
      });
      response.on('end', finish).on('error', reject);
    });
    request.on('error', reject);
  });
}
