import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AdminSessions, SessionUse } from '../../access/admin-sessions.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { Origins } from '../../lib/http/origins.ts';
import { parseQuery } from '../../lib/http/url.ts';
import { Problem, type ProblemDocument, problemKinds } from '../../lib/problem.ts';
import type { Random } from '../../lib/random.ts';
import { html } from '../../render/html/markup.ts';
import { type AdminGuard, unauthorized } from '../admin/guard.ts';
import { disableCompression } from '../compression.ts';
import { rejectOtherOrigins } from '../cors.ts';
import { addVary } from '../headers.ts';
import type { AccessLog } from '../monitoring/access-log.ts';
import { docsPath, type Site, toLink } from '../pages/layout.ts';
import { renderProblem } from '../pages/problem-page.ts';
import { recordProblem, sendError } from '../problems.ts';
import { isNavigation } from '../reads/negotiation.ts';
import { toPath } from '../reads/routes.ts';
import { refuseAll, route } from '../route.ts';
import { dashboardHeaders, renderDashboard, renderField } from './layout.ts';
import {
  type DashboardPage,
  type DashboardSection,
  dashboardPath,
  signInPath,
  signOutPath,
  type View,
  type Visit,
} from './pages.ts';
import {
  createDashboardSessions,
  type DashboardSession,
  type DashboardSessions,
  hasFormToken,
} from './session.ts';

export interface DashboardOptions {
  readonly site: Site;
  readonly origins: Origins;
  readonly guard: AdminGuard;
  readonly token: string | undefined;
  readonly store: AdminSessions;
  readonly random: Random;
  readonly accessLog: AccessLog;
  /** Sections in the order of the navigation. */
  readonly sections: readonly DashboardSection[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `visit` (default) restarts the idle timeout of the dashboard's session; `look` does not. */
    sessionUse?: SessionUse;
    /** Whether the route takes the sign-in form, for which nobody needs a session. */
    isSignIn?: boolean;
  }

  interface FastifyRequest {
    /** Session of the dashboard; `null` on other routes, and if nobody is signed in. */
    dashboardSession: DashboardSession | null;
  }
}

/** Registers the dashboard. Without a session, all paths but the sign-in form answer with 401. */
export async function dashboardPlugin(app: FastifyInstance, options: DashboardOptions) {
  const shell = createShell(options);
  app.decorateRequest('dashboardSession', null);
  rejectOtherOrigins(app, options.origins);
  disableCompression(app);
  app.addHook('onRequest', refuseOtherSites);
  readForms(app);
  app.setErrorHandler((error: FastifyError, _request, reply) => shell.sendError(error, reply));
  app.addHook('onRequest', async (request) => {
    const { sessionUse, isSignIn } = request.routeOptions.config;
    if (isSignIn) return;
    request.dashboardSession = await shell.sessions.find(request, sessionUse);
    if (request.dashboardSession === null) throw unauthorized();
  });
  registerPages(app, shell);
}

type Shell = ReturnType<typeof createShell>;

function createShell(options: DashboardOptions) {
  const { site, sections, accessLog } = options;
  const links = sections.map(({ link }) => link);
  const sessions: DashboardSessions = createDashboardSessions(options);
  const render = (view: View, { dashboardSession: session, raw }: FastifyRequest) =>
    renderDashboard(view, { site, links, session, path: toPath(raw.url ?? '') });
  const send = (reply: FastifyReply, view: View, status = 200) =>
    reply.code(status).headers(dashboardHeaders).send(render(view, reply.request));
  const sendFault = (reply: FastifyReply, problem: Problem, view: View) => {
    if (!isNavigation(reply.request)) throw problem;
    recordProblem(problem, reply, accessLog);
    return send(reply, view, problem.status);
  };
  return {
    ...options,
    sessions,
    send,
    sendFault,
    /** Sends an HTML page to browsers, a problem document to other clients. */
    sendError: (error: Error, reply: FastifyReply) =>
      sendError(reply, error, {
        baseUrl: site.baseUrl,
        accessLog,
        writePage: (problem) => {
          const { request } = reply;
          addVary(reply, 'Accept', 'Sec-Fetch-Mode');
          if (!isNavigation(request)) return null;
          reply.headers(dashboardHeaders);
          return render(describeError(problem, request, site), request);
        },
      }),
  };
}

function describeError(problem: ProblemDocument, request: FastifyRequest, site: Site): View {
  if (problem.code === 'unauthorized') {
    const next = toNextPath(isRead(request) ? (request.raw.url ?? '') : '');
    return describeSignIn({ site, next });
  }
  return { title: problem.title, body: renderProblem(problem, site, 'h1') };
}

function registerPages(app: FastifyInstance, shell: Shell): void {
  const { site, sections, sessions } = shell;
  route(app, signInPath, {
    // After a failed attempt, the address bar contains this path.
    GET: (_request, reply) => redirect(reply, dashboardPath, site),
    POST: {
      config: { isSignIn: true },
      bodyLimit: maxSignInBytes,
      handler: (request, reply) => signIn(request, reply, shell),
    },
  });
  const signOut: DashboardPage = {
    url: signOutPath,
    submit: async ({ session, reply }) => {
      reply.header('set-cookie', await sessions.end(session));
      return { to: dashboardPath };
    },
  };
  const pages = [signOut, ...sections.flatMap((section) => section.pages)];
  for (const page of pages) registerPage(app, page, shell);
  refuseAll(app, `${dashboardPath}/*`);
}

function registerPage(
  app: FastifyInstance,
  { url, show, read, submit }: DashboardPage,
  shell: Shell,
) {
  route(app, url, {
    ...(show && {
      GET: async (request: FastifyRequest, reply: FastifyReply) =>
        shell.send(reply, await show(toVisit(request, reply))),
    }),
    ...(read && {
      GET: {
        // An open page must not keep the operator signed in.
        config: { sessionUse: 'look' as const },
        handler: async (_request: unknown, reply: FastifyReply) =>
          reply.headers(partHeaders).send(toJsonBody(await read())),
      },
    }),
    ...(submit && {
      POST: async (request: FastifyRequest, reply: FastifyReply) => {
        const visit = toVisit(request, reply);
        const form = toForm(request);
        if (!hasFormToken(visit.session, form)) throw formRefused();
        const outcome = await submit(visit, form);
        if ('to' in outcome) return redirect(reply, outcome.to, shell.site);
        return shell.sendFault(reply, outcome.problem, outcome.view);
      },
    }),
  });
}

const partHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
} as const;

/** Redirects with 303, so that a reload does not send a form again (RFC 9110 §15.4.4). */
function redirect(reply: FastifyReply, path: string, site: Site): FastifyReply {
  return reply
    .code(303)
    .headers({ location: toLink(path, site), 'cache-control': 'no-store' })
    .send();
}

function toVisit(request: FastifyRequest, reply: FastifyReply): Visit {
  const { dashboardSession: session } = request;
  if (session === null) throw unauthorized();
  return {
    reply,
    session,
    params: request.params as Visit['params'], // the router creates an object of strings
    query: parseQuery(request.raw.url ?? ''),
  };
}

function toForm({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

function formRefused(): Problem {
  return new Problem('origin_not_allowed', {
    detail:
      'The form has no valid form token, so nothing was changed. It is from an earlier session or from another website.',
    resolution: 'Open the page again, and send the form again.',
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, shell: Shell) {
  const { site, sessions, guard } = shell;
  const form = toForm(request);
  const token = (form.get('token') ?? '').trim();
  const next = toNextPath(form.get('next') ?? '');
  const refuse = (problem: Problem, fault: string) =>
    shell.sendFault(reply, problem, describeSignIn({ site, next, fault }));
  if (token === '') return refuse(unauthorized(), 'Enter the admin token.');
  try {
    await guard.checkToken(token, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthorized') throw error;
    return refuse(error, 'This is not the admin token of this server.');
  }
  const earlier = await sessions.find(request);
  if (earlier !== null) await sessions.end(earlier);
  reply.header('set-cookie', await sessions.open());
  return redirect(reply, next, site);
}

const formMediaType = 'application/x-www-form-urlencoded';

/** Maximum form size in bytes. The longest field, 2000 percent-encoded characters, needs 24,000. */
const maxFormBytes = 65_536;

function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    formMediaType,
    { parseAs: 'string', bodyLimit: maxFormBytes },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  app.addContentTypeParser('*', async () => {
    const detail = `The pages of the dashboard accept only forms. Send \`${formMediaType}\`.`;
    throw new Problem('unsupported_media_type', { detail });
  });
}

/**
 * Rejects forms from other sites by the header `Sec-Fetch-Site`
 * (https://www.w3.org/TR/fetch-metadata/). Accepts a missing header.
 * @throws Problem `origin_not_allowed`
 */
async function refuseOtherSites(request: FastifyRequest): Promise<void> {
  const { 'sec-fetch-site': site = 'same-origin' } = request.headers;
  if (isRead(request) || site === 'same-origin') return;
  const detail = 'The request comes from another website, which cannot change anything here.';
  throw new Problem('origin_not_allowed', { detail });
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Maximum form size in bytes; low, because forms stay in memory while replies are delayed. */
const maxSignInBytes = 4096;

interface SignInForm {
  readonly site: Site;
  readonly next: string;
  readonly fault?: string;
}

/** Returns the sign-in form; hides whether the path exists or the server has a token. */
function describeSignIn({ site, next, fault }: SignInForm): View {
  const { status, title } = problemKinds.unauthorized;
  const attributes = html`type="password" required autofocus autocomplete="current-password" spellcheck="false"`;
  return {
    title: fault === undefined ? 'Sign in' : 'Error: Sign in',
    body: html`<form class="sign-in card" method="post" action="${toLink(signInPath, site)}">
<h1>${title}</h1>
<p>${unauthorized().message}</p>
<input type="text" name="username" value="operator" autocomplete="username" hidden>
<input type="hidden" name="next" value="${next}">
${renderField({ name: 'token', label: 'Admin token', fault, attributes })}
<button class="primary" type="submit">Sign in</button>
<p class="problem-code">Code <a href="${toLink(`${docsPath}/errors#unauthorized`, site)}"><code>unauthorized</code></a>, status ${status}</p>
</form>`,
  };
}

const maxNext = 512;

/** Returns `text` if it is a page of the dashboard, otherwise the path of the first page. */
function toNextPath(text: string): string {
  const isOwn = /^\/admin(?:\/[\w/-]*)?(?:\?[\w&=%+.-]*)?$/.test(text);
  const isSignIn = text.startsWith(`${dashboardPath}/sign-`);
  return isOwn && !isSignIn && text.length <= maxNext ? text : dashboardPath;
}
