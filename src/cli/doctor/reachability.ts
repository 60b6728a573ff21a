import type { Config } from '../../config/config.ts';
import { codeOfFailure, getOnce, type OnceAnswer } from '../../core/http/get-once.ts';
import { isLoopbackName } from '../../core/http/url.ts';
import { withDeadline } from '../../core/scheduling/deadline.ts';
import type { ConnectionReport } from '../../http/admin/connection.ts';
import { fault, ok, type Result, warning } from './finding.ts';
import { type Listener, livePath, openListener, processOf } from './listener.ts';
import { checkProxy } from './proxy.ts';
import type { DoctorContext } from './run-checks.ts';

/** Server at the base URL. `unverified`: a Perch server that may belong to someone else. */
export type BaseAnswer =
  | { readonly kind: 'own'; readonly report: ConnectionReport }
  | { readonly kind: 'perch' | 'unverified' | 'other' };

/** Creates the checks of port, base URL and proxy. Callers must call `close`. */
export function createReachability(context: DoctorContext) {
  const { config, random, invalid } = context;
  let opening: Promise<Listener> | undefined;
  const listen = (signal: AbortSignal): Promise<Listener | null> => {
    if (config.PORT === 0 || invalid.has('PORT') || invalid.has('HOST'))
      return Promise.resolve(null);
    opening ??= openListener(config, random, signal);
    return opening;
  };
  let asking: Promise<BaseResult> | undefined;
  const askBase = async (signal: AbortSignal): Promise<BaseResult> => {
    const listener = await listen(signal);
    if (listener?.kind === 'unusable') return unusable;
    asking ??= requestBase(config, listener, signal);
    return asking;
  };
  return {
    checkPort: async (signal: AbortSignal) => [describePort(config, await listen(signal))],
    checkBaseUrl: async (signal: AbortSignal) => {
      const { result } = await askBase(signal);
      return [result, ...findLocalBase(context)];
    },
    checkProxy: async (signal: AbortSignal) => {
      const { answer } = await askBase(signal);
      return [await checkProxy(config, answer, signal)];
    },
    close: async (): Promise<void> => {
      const listener = await opening;
      if (listener?.kind === 'own') listener.close();
    },
  };
}

function describePort({ HOST, PORT }: Config, listener: Listener | null): Result {
  if (listener === null) {
    return ok('PORT is 0, so the server listens on any free port.');
  }
  if (listener.kind === 'own') return ok(`Port ${PORT} of ${HOST} is free. No server is running.`);
  if (listener.kind === 'perch') return ok(`Perch is running on port ${PORT} of ${HOST}.`);
  if (listener.kind === 'other') {
    const message = `Another program uses port ${PORT} of ${HOST}, or Perch does not answer there.`;
    return fault(message, 'Stop that program, or set PORT to another port.');
  }
  if (listener.code === 'EACCES') {
    const message = `You have no permission to listen on port ${PORT}.`;
    return fault(message, 'Set PORT to 1024 or higher.');
  }
  const message = `HOST is ${JSON.stringify(HOST)}, which is not an address of this machine (${listener.code}).`;
  return fault(message, 'Set HOST to 127.0.0.1, or to 0.0.0.0 to listen on all networks.');
}

/** Reports a base URL that works only here, although the server accepts other machines. */
function findLocalBase({ config, settings }: DoctorContext): readonly Result[] {
  const host = new URL(config.PERCH_BASE_URL).hostname;
  if (!isLoopbackName(host) || isLoopbackName(config.HOST)) return [];
  const isSet = settings.has('PERCH_BASE_URL') ? 'is' : 'is not set, so it is';
  const message = `PERCH_BASE_URL ${isSet} ${config.PERCH_BASE_URL}, but HOST accepts connections from other machines. On these machines, links in responses do not lead to this server.`;
  return [warning(message, 'Set PERCH_BASE_URL to the address that people use.')];
}

interface BaseResult {
  readonly result: Result;
  readonly answer: BaseAnswer;
}

const unusable: BaseResult = {
  result: warning('Not checked, because Perch cannot listen.', 'Correct HOST or PORT first.'),
  answer: { kind: 'other' },
};

const baseMs = 4000;

const correct = 'correct PERCH_BASE_URL.';

async function requestBase(
  config: Config,
  listener: Listener | null,
  signal: AbortSignal,
): Promise<BaseResult> {
  const base = config.PERCH_BASE_URL;
  const query = listener?.kind === 'own' ? `?doctor=${listener.nonce}` : '';
  const url = new URL(`${base}${livePath}${query}`);
  try {
    const ask = (deadline: AbortSignal) => getOnce(url, { signal: deadline });
    const received = await withDeadline(baseMs, [signal], ask);
    const own = identify(received, listener, config);
    if (own !== null) return own;
    return { result: describeOther(received, config), answer: { kind: 'other' } };
  } catch (error) {
    return { result: describeFailure(base, codeOfFailure(error)), answer: { kind: 'other' } };
  }
}

function identify(
  received: OnceAnswer,
  listener: Listener | null,
  { PERCH_BASE_URL: base, PERCH_REDIS_URL: engine }: Config,
): BaseResult | null {
  const report = listener?.kind === 'own' ? listener.readReport(received.text) : null;
  if (report !== null) {
    return { result: ok(`${base} leads to this machine.`), answer: { kind: 'own', report } };
  }
  const process = processOf(received);
  if (process === null) return null;
  if (listener?.kind === 'perch' && process === listener.process) {
    return { result: ok(`${base} leads to this server.`), answer: { kind: 'perch' } };
  }
  if (listener !== null && engine === undefined) return null;
  return { result: ok(`Perch answers at ${base}.`), answer: { kind: 'unverified' } };
}

function describeOther(received: OnceAnswer, config: Config): Result {
  const { status, text, headers } = received;
  const { PERCH_BASE_URL: base, PORT, HOST } = config;
  if (processOf(received) !== null) {
    const message = `A Perch server answers at ${base}, but not the one at port ${PORT} of ${HOST}.`;
    return fault(message, `Run perch doctor with the settings of that server, or ${correct}`);
  }
  if (status >= 300 && status < 400) {
    const target = String(headers.location).slice(0, 200);
    const advice = 'Set PERCH_BASE_URL to the address after the redirect, without the path.';
    return fault(`${base} redirects to ${target}.`, advice);
  }
  if (status === 403 && text.includes('"code":"origin_not_allowed"')) {
    const message = `The proxy at ${base} changes the Host header, so Perch refuses the request.`;
    return fault(message, 'Configure the proxy to pass the Host header of the request unchanged.');
  }
  if ([502, 503, 504].includes(status)) {
    const message = `The proxy at ${base} answers ${status}, because it cannot connect to Perch.`;
    return fault(message, `Let the proxy send requests to port ${PORT} of ${HOST}, or ${correct}`);
  }
  const message = `Another server answers at ${base} (status ${status}).`;
  return fault(message, `Let the proxy send all paths to Perch, or ${correct}`);
}

function describeFailure(base: string, code: string): Result {
  const { hostname } = new URL(base);
  const message = `${base} cannot be reached (${code}).`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return fault(message, `Create a DNS record for ${hostname}, or ${correct}`);
  }
  if (code === 'ABORT_ERR') {
    const late = `${base} did not answer in time.`;
    return fault(
      late,
      `Check the proxy and the firewall, or ${correct} If other machines can open this address, the network of this machine does not support connections to its own public address.`,
    );
  }
  if (/CERT|SELF_SIGNED|SIGNATURE|ERR_TLS|UNABLE_TO_/.test(code)) {
    return fault(message, `Give the proxy a valid certificate for ${hostname}.`);
  }
  return fault(message, `Start the proxy, open its port in the firewall, or ${correct}`);
}
