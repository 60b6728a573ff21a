import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnectionReader } from '../../access/client-address.ts';
import type { Config } from '../../config/config.ts';
import { codeOfFailure, getOnce, type OnceAnswer } from '../../lib/http/get-once.ts';
import { parseJson } from '../../lib/http/json-bodies.ts';
import { isLoopbackName, toLocalUrl } from '../../lib/http/url.ts';
import type { Random } from '../../lib/random.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import {
  type ConnectionReport,
  forwardingHeaders,
  parseConnectionReport,
} from '../../routes/admin/connection.ts';
import { explainOpenError } from '../output/explain.ts';
import { type DoctorContext, fault, ok, type Result, warning } from './finding.ts';

const livePath = '/health/live';

/**
 * Checks the port, the base URL and the proxy. If no server runs, the doctor listens on the port
 * itself, so that a request to the base URL arrives at a server that it knows.
 */
export async function checkNetwork(context: DoctorContext, signal: AbortSignal) {
  const { config, random } = context;
  const server = createTemporaryServer(config, random);
  try {
    const running = await findRunning(config, signal);
    const error = running === null && config.PORT !== 0 ? await server.listen() : null;
    const port = describePort(config, running, error);
    if (error !== null && codeOfFailure(error) !== 'EADDRINUSE') {
      const advice = 'Correct HOST or PORT first.';
      return [[port], [warning('Not checked, because Perch cannot listen.', advice)], [unknown]];
    }
    const { base, proxy } = await checkBase({ config, running, server }, signal);
    return [[port], [base, ...findLocalBase(context)], [proxy]];
  } finally {
    server.close();
  }
}

/** Creates a server that answers the doctor's request, and all other requests with 503. */
function createTemporaryServer(config: Config, random: Random) {
  const path = `${livePath}?doctor=${random.bytes(16).toString('hex')}`;
  const proof = random.bytes(16).toString('hex'); // not in the request, so no other server can send it
  const isTrusted = createConnectionReader(config.PERCH_TRUST_PROXY);
  const server = createServer({ requestTimeout: 5000 }, ({ url, socket, headers }, response) => {
    const report: ConnectionReport = {
      peer: socket.remoteAddress ?? null,
      is_trusted_proxy: isTrusted(socket) === null,
      forwarding_headers: forwardingHeaders(headers),
    };
    response.writeHead(url === path ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(url === path ? JSON.stringify({ proof, ...report }) : '{}');
  });
  server.maxConnections = 64;
  return {
    path,
    /** Returns the error if the server cannot listen; otherwise `null`. */
    listen: (): Promise<unknown> => {
      server.listen({ host: config.HOST, port: config.PORT });
      return once(server, 'listening').then(
        () => null,
        (error) => error,
      );
    },
    /** Parses the server's response; `null` if another server sent the body. */
    readReport: (body: string): ConnectionReport | null =>
      body.startsWith(`{"proof":"${proof}"`) ? parseConnectionReport(parseJson(body)) : null,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface GetOptions {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

const get = (url: URL, { ms, signal, headers = {} }: GetOptions): Promise<OnceAnswer> =>
  withDeadline(ms, [signal], (deadline) => getOnce(url, { headers, signal: deadline }));

/** Returns the process id of the Perch server on the port; `null` if there is none. */
async function findRunning({ HOST, PORT }: Config, signal: AbortSignal): Promise<string | null> {
  if (PORT === 0) return null;
  try {
    return processOf(await get(new URL(livePath, toLocalUrl(HOST, PORT)), { ms: 2000, signal }));
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

function describePort(config: Config, running: string | null, error: unknown): Result {
  const { HOST, PORT } = config;
  if (PORT === 0) return ok('PORT is 0, so the server listens on any free port.');
  if (running !== null) return ok(`Perch is running on port ${PORT} of ${HOST}.`);
  if (error === null) return ok(`Port ${PORT} of ${HOST} is free. No server is running.`);
  if (codeOfFailure(error) !== 'EADDRINUSE') return fault(explainOpenError(error, config));
  const message = `Another program uses port ${PORT} of ${HOST}, or Perch does not answer there.`;
  return fault(message, 'Stop that program, or set PORT to another port.');
}

function findLocalBase({ config, settings }: DoctorContext): readonly Result[] {
  const host = new URL(config.PERCH_BASE_URL).hostname;
  if (!isLoopbackName(host) || isLoopbackName(config.HOST)) return [];
  const isSet = settings.has('PERCH_BASE_URL') ? 'is' : 'is not set, so it is';
  const message = `PERCH_BASE_URL ${isSet} ${config.PERCH_BASE_URL}, but HOST accepts connections from other machines. On these machines, links in responses do not lead to this server.`;
  return [warning(message, 'Set PERCH_BASE_URL to the address that people use.')];
}

const unknown = warning(
  'Not checked, because PERCH_BASE_URL does not lead to this server.',
  'Correct the base URL first.',
);

/** Result for a server that may belong to someone else, which must not receive the admin token. */
const unverified = warning(
  'Not checked, because perch doctor cannot prove that the server at PERCH_BASE_URL is yours.',
  'Send GET /api/admin/connection through the proxy with the admin token, and compare the address in `peer` with PERCH_TRUST_PROXY.',
);

interface Local {
  readonly config: Config;
  readonly running: string | null;
  readonly server: ReturnType<typeof createTemporaryServer>;
}

async function checkBase({ config, running, server }: Local, signal: AbortSignal) {
  const { PERCH_BASE_URL: base, PERCH_REDIS_URL: engine, PORT } = config;
  const url = new URL(`${base}${running === null ? server.path : livePath}`);
  try {
    const received = await get(url, { ms: 4000, signal });
    const report = server.readReport(received.text);
    if (report !== null) {
      return { base: ok(`${base} leads to this machine.`), proxy: judgeProxy(report, config) };
    }
    const found = processOf(received);
    if (found !== null && found === running) {
      const proxy = await checkRunningProxy(config, signal);
      return { base: ok(`${base} leads to this server.`), proxy };
    }
    // With a shared engine, any instance can answer.
    const isUnverified = found !== null && (PORT === 0 || engine !== undefined);
    if (isUnverified) return { base: ok(`Perch answers at ${base}.`), proxy: unverified };
    return { base: describeOther(received, config), proxy: unknown };
  } catch (error) {
    return { base: describeFailure(base, codeOfFailure(error)), proxy: unknown };
  }
}

const correct = 'correct PERCH_BASE_URL.';

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
  if (/^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) {
    return fault(message, `Create a DNS record for ${hostname}, or ${correct}`);
  }
  if (/CERT|SELF_SIGNED|SIGNATURE|ERR_TLS|UNABLE_TO_/.test(code)) {
    return fault(message, `Give the proxy a valid certificate for ${hostname}.`);
  }
  if (code !== 'ABORT_ERR') {
    return fault(message, `Start the proxy, open its port in the firewall, or ${correct}`);
  }
  return fault(
    `${base} did not answer in time.`,
    `Check the proxy and the firewall, or ${correct} If other machines can open this address, the network of this machine does not support connections to its own public address.`,
  );
}

const stopServer = 'or stop the server and run perch doctor again.';

async function checkRunningProxy(config: Config, signal: AbortSignal): Promise<Result> {
  const { PERCH_BASE_URL: base, PERCH_ADMIN_TOKEN: token } = config;
  const leaveOut = (reason: string, advice: string) =>
    warning(`Not checked, because ${reason}`, `${advice}, ${stopServer}`);
  if (token === undefined) {
    const reason =
      'the running server reports proxy headers only to requests with the admin token.';
    return leaveOut(reason, 'Set PERCH_ADMIN_TOKEN');
  }
  const url = new URL(`${base}/api/admin/connection`);
  if (url.protocol !== 'https:' && !isLoopbackName(url.hostname)) {
    const reason = 'the check sends PERCH_ADMIN_TOKEN, and PERCH_BASE_URL does not use https.';
    return leaveOut(reason, 'Use https');
  }
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await get(url, { headers, ms: 2500, signal });
  const report = status === 200 ? parseConnectionReport(parseJson(text)) : null;
  if (report !== null) return judgeProxy(report, config);
  const reason = `the server answered ${status} to a request with PERCH_ADMIN_TOKEN.`;
  return leaveOut(reason, 'Restart the server with the settings that perch doctor uses');
}

/** Checks that `PERCH_TRUST_PROXY` contains a proxy that sends `X-Forwarded-For`, and no client. */
export function judgeProxy(
  { peer, is_trusted_proxy: isTrusted, forwarding_headers: names }: ConnectionReport,
  { PERCH_BASE_URL: base }: Pick<Config, 'PERCH_BASE_URL'>,
): Result {
  const proxy = `The proxy at ${peer ?? 'an unknown address'}`;
  if (names.includes('x-forwarded-for')) {
    if (isTrusted) {
      return ok(`${proxy} sends X-Forwarded-For, and PERCH_TRUST_PROXY contains it.`);
    }
    return fault(
      `${proxy} sends X-Forwarded-For, but PERCH_TRUST_PROXY does not contain the address of this proxy. All visitors share one rate limit.`,
      `Set PERCH_TRUST_PROXY to ${peer}, or to a range that contains this address.`,
    );
  }
  if (names.length > 0 || base.startsWith('https:')) {
    const others = names.length > 0 ? `sends ${names.join(' and ')}, but not` : 'does not send';
    return fault(
      `${proxy} ${others} X-Forwarded-For, which Perch reads. All visitors share one rate limit.`,
      'Configure the proxy to send X-Forwarded-For, and set PERCH_TRUST_PROXY to its address.',
    );
  }
  if (!isTrusted) return ok(`No proxy headers arrive; the connection comes from ${peer}.`);
  return warning(
    `PERCH_TRUST_PROXY contains ${peer}, but the request from this address has no X-Forwarded-For header.`,
    'If this is a proxy, configure it to send X-Forwarded-For. Otherwise, unset PERCH_TRUST_PROXY, because programs at this address can pretend to be other clients.',
  );
}
