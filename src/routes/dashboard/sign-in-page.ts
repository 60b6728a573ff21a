import { problemKinds } from '../../lib/problem.ts';
import { escapeHtml } from '../../render/html/markup.ts';
import { unauthorized } from '../admin/guard.ts';
import { docsPath, type Site, toLink } from '../pages/layout.ts';
import type { View } from './pages.ts';
import { dashboardPath, signInPath } from './paths.ts';

export const signInFields = { token: 'token', next: 'next' } as const;

/** Maximum form size in bytes; low, because forms stay in memory while replies are delayed. */
export const maxSignInBytes = 4096;

interface SignInForm {
  readonly site: Site;
  readonly next: string;
  readonly fault?: string;
}

/** Returns the sign-in form; hides whether the path exists or the server has a token. */
export function describeSignIn({ site, next, fault }: SignInForm): View {
  const { status, title } = problemKinds.unauthorized;
  const { message } = unauthorized();
  const docs = toLink(`${docsPath}/errors#unauthorized`, site);
  return {
    title: fault === undefined ? 'Sign in' : 'Error: Sign in',
    bodyHtml: `<form class="sign-in card" method="post" action="${escapeHtml(toLink(signInPath, site))}">
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<input type="text" name="username" value="operator" autocomplete="username" hidden>
<input type="hidden" name="${signInFields.next}" value="${escapeHtml(next)}">
${renderTokenField(fault)}
<button class="primary" type="submit">Sign in</button>
<p class="problem-code">Code <a href="${escapeHtml(docs)}"><code>unauthorized</code></a>, status ${status}</p>
</form>`,
  };
}

function renderTokenField(fault: string | undefined): string {
  const described =
    fault === undefined ? '' : ' aria-invalid="true" aria-describedby="token-fault"';
  const error =
    fault === undefined ? '' : `\n<p class="field-fault" id="token-fault">${escapeHtml(fault)}</p>`;
  return `<div class="field">
<label for="token">Admin token</label>
<input id="token" name="${signInFields.token}" type="password" required autofocus autocomplete="current-password" spellcheck="false"${described}>${error}
</div>`;
}

const maxNext = 512;

/** Returns `text` if it is a page of the dashboard, otherwise the path of the first page. */
export function toNextPath(text: string): string {
  const isOwn = /^\/admin(?:\/[\w/-]*)?(?:\?[\w&=%+.-]*)?$/.test(text);
  const isSignIn = text.startsWith(`${dashboardPath}/sign-`);
  return isOwn && !isSignIn && text.length <= maxNext ? text : dashboardPath;
}
