import { createServer, type IncomingMessage } from 'node:http';
import { createConnectionReader } from '../../access/client-address.ts';
import type { Config } from '../../config/config.ts';
import { codeOfFailure, getOnce, type OnceAnswer } from '../../lib/http/get-once.ts';
import { isLoopbackName, toLocalUrl } from '../../lib/http/url.ts';
import { parseJson } from '../../lib/parse-json.ts';
import type { Random } from '../../lib/random.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import {
  type ConnectionReport,
  forwardingHeaders,
  parseConnectionReport,
} from '../../routes/admin/connection.ts';
import { type DoctorContext, fault, ok, type Result, warning } from './finding.ts';

/** Server on `HOST` and `PORT`: a running one, or a temporary one that the doctor has opened. */
type Listener =
  | { readonly kind: 'perch'; readonly process: string }
  | { readonly kind: 'other' }
  | ({ readonly kind: 'own' } & OwnServer)
  /** Port that cannot be used. `code` is the error code of `listen`. */
  | { readonly kind: 'unusable'; readonly code: string };

interface OwnServer {
  /** Random text in the URL of a test request, which the temporary server answers with a report. */
  readonly nonce: string;
  /** Parses the temporary server's report; `null` if another server sent the body. */
  readReport(body: string): ConnectionReport | null;
  close(): void;
}

/** Server at the base URL. `unverified`: a Perch server that may belong to someone else. */
type BaseAnswer =
  | { readonly kind: 'own'; readonly report: ConnectionReport }
  | { readonly kind: 'perch' | 'unverified' | 'other' };

/** Maximum milliseconds for a request to this machine, to the base URL, and to the admin route. */
const limits = { localMs: 2000, baseMs: 4000, adminMs: 2500 } as const;

/** Creates the checks of port, base URL and proxy. Callers must call `close`. */
export function createReachability(context: DoctorContext) {
  const { config, random, invalid } = context;
  let opening: Promise<Listener> | undefined;
  const listen = async (signal: AbortSignal): Promise<Listener | null> => {
    if (config.PORT === 0 || invalid.has('PORT') || invalid.has('HOST')) return null;
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

const livePath = '/health/live';

async function openListener(
  config: Config,
  random: Random,
  signal: AbortSignal,
): Promise<Listener> {
  const process = await findRunning(config, signal);
  if (process !== null) return { kind: 'perch', process };
  const opened = await openOwnServer(config, random);
  if (typeof opened !== 'string') return { kind: 'own', ...opened };
  return opened === 'EADDRINUSE' ? { kind: 'other' } : { kind: 'unusable', code: opened };
}

async function findRunning({ HOST, PORT }: Config, signal: AbortSignal): Promise<string | null> {
  try {
    const url = new URL(livePath, toLocalUrl(HOST, PORT));
    const ask = (deadline: AbortSignal) => getOnce(url, { signal: deadline });
    return processOf(await withDeadline(limits.localMs, [signal], ask));
  } catch {
    return null;
  }
}

/** Returns the process id from `X-Request-Id`; `null` if the response is not from Perch. */
function processOf({ status, headers, text }: OnceAnswer): string | null {
  const id = headers['x-request-id'];
  const [, prefix = null] = /^([\w-]{8})-[0-9a-z]+$/.exec(String(id)) ?? [];
  return status === 200 && text.trim() === '{"status":"ok"}' ? prefix : null;
}

function openOwnServer(config: Config, random: Random): Promise<OwnServer | string> {
  const nonce = random.bytes(16).toString('hex');
  const proof = random.bytes(16).toString('hex'); // not part of the request, so no other server can send it
  const server = createServer({ requestTimeout: 5000 }, (request, response) => {
    const isOurs = request.url === `${livePath}?doctor=${nonce}`;
    response.writeHead(isOurs ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(JSON.stringify(isOurs ? { proof, ...report(request, config) } : {}));
  });
  server.maxConnections = 64;
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(codeOfFailure(error)));
    server.listen({ host: config.HOST, port: config.PORT }, () => {
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      const readReport = (body: string) =>
        body.startsWith(`{"proof":"${proof}"`) ? parseConnectionReport(parseJson(body)) : null;
      resolve({ nonce, readReport, close });
    });
  });
}

function report({ socket, headers }: IncomingMessage, config: Config): ConnectionReport {
  return {
    peer: socket.remoteAddress ?? null,
    is_trusted_proxy: createConnectionReader(config.PERCH_TRUST_PROXY)(socket) === null,
    forwarding_headers: forwardingHeaders(headers),
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
    const received = await withDeadline(limits.baseMs, [signal], ask);
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

/** Checks that `PERCH_TRUST_PROXY` contains a proxy that sends `X-Forwarded-For`, and no client. */
export async function checkProxy(
  config: Config,
  answer: BaseAnswer,
  signal: AbortSignal,
): Promise<Result> {
  const usesTls = config.PERCH_BASE_URL.startsWith('https:');
  if (answer.kind === 'own') return judge(answer.report, usesTls);
  if (answer.kind === 'perch') {
    const report = await fetchFrom(config, signal);
    return 'status' in report ? report : judge(report, usesTls);
  }
  if (answer.kind === 'unverified') {
    // The admin token must not be sent to a server that only answers like Perch.
    return warning(
      'Not checked, because perch doctor cannot prove that the server at PERCH_BASE_URL is yours.',
      'Send GET /api/admin/connection through the proxy with the admin token, and compare the address in `peer` with PERCH_TRUST_PROXY.',
    );
  }
  return warning(
    'Not checked, because PERCH_BASE_URL does not lead to this server.',
    'Correct the base URL first.',
  );
}

const unreadable = warning(
  'Not checked, because the proxy changes the body of responses.',
  'Configure the proxy to send responses unchanged.',
);

const stopServer = 'or stop the server and run perch doctor again.';

async function fetchFrom(
  { PERCH_BASE_URL: base, PERCH_ADMIN_TOKEN: token }: Config,
  signal: AbortSignal,
): Promise<ConnectionReport | Result> {
  if (token === undefined) {
    return warning(
      'Not checked, because the running server reports proxy headers only to requests with the admin token.',
      `Set PERCH_ADMIN_TOKEN, ${stopServer}`,
    );
  }
  const url = new URL(`${base}/api/admin/connection`);
  if (url.protocol !== 'https:' && !isLoopbackName(url.hostname)) {
    return warning(
      'Not checked, because the check sends PERCH_ADMIN_TOKEN, and PERCH_BASE_URL does not use https.',
      `Use https, ${stopServer}`,
    );
  }
  const headers = { authorization: `Bearer ${token}` };
  const ask = (deadline: AbortSignal) => getOnce(url, { headers, signal: deadline });
  const { status, text } = await withDeadline(limits.adminMs, [signal], ask);
  if (status === 200) return parseConnectionReport(parseJson(text)) ?? unreadable;
  return warning(
    `Not checked, because the server answered ${status} to a request with PERCH_ADMIN_TOKEN.`,
    `Restart the server with the settings that perch doctor uses, ${stopServer}`,
  );
}

function judge(
  { peer, is_trusted_proxy, forwarding_headers: names }: ConnectionReport,
  usesTls: boolean,
): Result {
  const from = peer ?? 'an unknown address';
  const hasForwardedFor = names.includes('x-forwarded-for');
  if (hasForwardedFor && is_trusted_proxy) {
    return ok(`The proxy at ${from} sends X-Forwarded-For, and PERCH_TRUST_PROXY contains it.`);
  }
  if (hasForwardedFor) {
    return fault(
      `The proxy at ${from} sends X-Forwarded-For, but PERCH_TRUST_PROXY does not contain the address of this proxy. All visitors share one rate limit.`,
      `Set PERCH_TRUST_PROXY to ${from}, or to a range that contains this address.`,
    );
  }
  if (names.length > 0 || usesTls) {
    const others = names.length > 0 ? `sends ${names.join(' and ')}, but not` : 'does not send';
    return fault(
      `The proxy at ${from} ${others} X-Forwarded-For, which Perch reads. All visitors share one rate limit.`,
      'Configure the proxy to send X-Forwarded-For, and set PERCH_TRUST_PROXY to its address.',
    );
  }
  if (is_trusted_proxy) {
    return warning(
      `PERCH_TRUST_PROXY contains ${from}, but the request from this address has no X-Forwarded-For header.`,
      'If this is a proxy, configure it to send X-Forwarded-For. Otherwise, unset PERCH_TRUST_PROXY, because programs at this address can pretend to be other clients.',
    );
  }
  return ok(`No proxy headers arrive; the connection comes from ${from}.`);
}
