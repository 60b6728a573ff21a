import type { Config } from '../../config/config.ts';
import { getOnce } from '../../core/http/get-once.ts';
import { isLoopbackName } from '../../core/http/url.ts';
import { withDeadline } from '../../core/scheduling/deadline.ts';
import { type ConnectionReport, parseConnectionReport } from '../../http/admin/connection.ts';
import { fault, ok, type Result, warning } from './finding.ts';
import { parseJson } from './listener.ts';
import type { BaseAnswer } from './reachability.ts';

/** Checks that `PERCH_TRUST_PROXY` contains a proxy that sends `X-Forwarded-For`, and no client. */
export async function checkProxy(
  config: Config,
  answer: BaseAnswer,
  signal: AbortSignal,
): Promise<Result> {
  const usesTls = config.PERCH_BASE_URL.startsWith('https:');
  if (answer.kind === 'own') return judge(answer.report, usesTls);
  if (answer.kind === 'perch') {
    const report = await askServer(config, signal);
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

/** Maximum time in milliseconds to ask the running server for its report about proxy headers. */
const adminMs = 2500;

const stopServer = 'or stop the server and run perch doctor again.';

async function askServer(
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
  const { status, text } = await withDeadline(adminMs, [signal], ask);
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
