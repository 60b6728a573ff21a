import { gatherSettings, listenDefaults, type SettingSources } from '../config/sources.ts';
import { codeOfFailure, getOnce } from '../lib/http/get-once.ts';
import { parseUrl, toLocalUrl } from '../lib/http/url.ts';
import { withDeadline } from '../lib/scheduling/deadline.ts';
import {
  type BareBody,
  type BareContext,
  CommandError,
  listenOptions,
  withoutArguments,
} from './command.ts';

const timeoutMs = 4000;

/** Command without setting schemas or an HTTP library: containers run it every few seconds. */
export const healthCommand: BareBody = {
  isBare: true,
  exits: 'Exit code: 0 ready, 1 not ready, 2 bad usage.',
  ...withoutArguments('health', listenOptions, () => async ({ sources, stdout }: BareContext) => {
    const target = readTarget(sources);
    const fault = 'fault' in target ? target.fault : await findFault(target.url);
    if (fault !== null) throw new CommandError('notReady', fault);
    stdout.write('The server is ready.\n');
  }),
};

function readTarget(sources: SettingSources): { url: string } | { fault: string } {
  const { settings, faults } = gatherSettings(sources, []);
  if (faults.length > 0) return { fault: faults.map(({ message }) => message).join('\n') };
  const host = settings.get('HOST')?.value ?? listenDefaults.host;
  const port = settings.get('PORT')?.value ?? String(listenDefaults.port);
  const url = /^[1-9]\d{0,4}$/.test(port) ? toLocalUrl(host, Number(port)) : null;
  if (url === null || parseUrl(url) === null) {
    const fault = `HOST is ${JSON.stringify(host)} and PORT is ${JSON.stringify(port)}. Set them, or the options --host and --port, to the address of the server.`;
    return { fault };
  }
  return { url };
}

async function findFault(url: string): Promise<string | null> {
  try {
    const ask = (signal: AbortSignal) => getOnce(new URL(`${url}/health/ready`), { signal });
    const { status, text } = await withDeadline(timeoutMs, [], ask);
    if (status === 200 && /^\{"status":"ready"[,}]/.test(text)) return null;
    if (text.includes('"code":"shutting_down"')) return 'The server is shutting down.';
    return `The program at ${url} answered /health/ready with status ${status}, but not like a Perch server. Check HOST and PORT.`;
  } catch (error) {
    const code = codeOfFailure(error);
    return code === 'ABORT_ERR'
      ? `The server at ${url} did not answer within ${timeoutMs / 1000} seconds.`
      : `The server at ${url} cannot be reached (${code}). Start it with \`perch serve\`, or check HOST and PORT.`;
  }
}
