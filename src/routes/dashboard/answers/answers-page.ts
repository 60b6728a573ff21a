import type { SkipReason } from '../../../answers/corpus/corpus.ts';
import type { IndexState } from '../../../answers/index/passage-index.ts';
import type { RefreshResult } from '../../../answers/index/refresh.ts';
import type { DeclinedQuestion, LastFallback } from '../../../answers/question-record.ts';
import { escapeHtml, escapeLine } from '../../../render/html/markup.ts';
import { docsPath, renderLink, type Site } from '../../pages/layout.ts';
import {
  countOf,
  formatCount,
  formatMs,
  formatShare,
  renderPast,
  renderTiles,
} from '../numbers.ts';

export interface AnswersFigures {
  readonly nowMs: number;
  /** Folders and files that answers are based on; empty for the documentation of Perch. */
  readonly corpus: readonly string[];
  /** State of the search index of the documents; `null` if unknown. */
  readonly index: IndexState | null;
  readonly isReady: boolean;
  /** Name of the language model, or of the built-in engine if there is no model. */
  readonly modelId: string;
  readonly hasModel: boolean;
  /** Counts since the start. `fallbacks`: questions that the model did not answer completely. */
  readonly counts: Readonly<Record<'answered' | 'declined' | 'fallbacks', number>>;
  readonly lastFallback: LastFallback | null;
  readonly declined: readonly DeclinedQuestion[];
  /** Maximum number of unanswered questions that Perch stores for the operator; 0 stores none. */
  readonly keep: number;
}

/** Renders the body of the page *Answers*; `figures` is `null` if questions are turned off. */
export function renderAnswers(figures: AnswersFigures | null, site: Site): string {
  const lead = `<p class="lede">Questions about documents, in ${renderLink(`${docsPath}/sessions`, 'sessions', site)} and on the page ${renderLink(`${docsPath}/ask`, 'Ask', site)}.</p>`;
  if (figures === null) {
    return `<h1>Answers</h1>
<p class="empty">Questions are turned off (<code>PERCH_SESSIONS</code>).</p>`;
  }
  return `<h1>Answers</h1>
${lead}
${renderIndexFailure(figures)}
${renderTiles(listTiles(figures))}
${renderCorpus(figures)}
${figures.hasModel ? renderModel(figures) : ''}
${renderDeclined(figures, site)}`;
}

function renderIndexFailure({ index, nowMs }: AnswersFigures): string {
  if (!index?.failure) return '';
  const { message, atMs } = index.failure;
  return `<ul class="alerts" aria-label="Needs attention"><li>The index of the documents could not be updated: ${escapeLine(message)} ${renderPast(atMs, nowMs)}</li></ul>`;
}

function listTiles({ index, isReady, counts }: AnswersFigures) {
  const { answered, declined } = counts;
  const asked = answered + declined;
  const current = index?.current ?? null;
  const share = formatShare(declined, asked);
  return [
    { name: 'Index', value: describeIndex(index, isReady), note: describeProgress(index) },
    {
      name: 'Files',
      value: current === null ? 'Unknown' : formatCount(current.files),
      note:
        current === null
          ? 'The index is not complete yet.'
          : [countOf(current.passages, 'passage'), ...describeSkipped(current.skipped)].join(', '),
    },
    {
      name: 'Answered questions',
      value: formatCount(answered),
      note: 'since the start of the server',
    },
    {
      name: 'Declined questions',
      value: formatCount(declined),
      note:
        share === null
          ? 'since the start of the server'
          : `${share} of ${countOf(asked, 'question')}`,
    },
  ];
}

const skipReasons: Readonly<Record<SkipReason, string>> = {
  format: 'of another format',
  size: 'too large',
  unreadable: 'not readable',
  ignored: 'ignored',
};

function describeSkipped(skipped: RefreshResult['skipped']): readonly string[] {
  return Object.entries(skipReasons).flatMap(([reason, text]) => {
    const count = skipped[reason as SkipReason] ?? 0; // its own keys
    return count === 0 ? [] : [`${formatCount(count)} ${text}`];
  });
}

function describeIndex(index: IndexState | null, isReady: boolean): string {
  if (index?.progress) return isReady ? 'Updating' : 'Building';
  return isReady ? 'Ready' : 'Not ready';
}

function describeProgress(index: IndexState | null): string {
  if (index === null) return 'The engine has no index.';
  const { progress, current } = index;
  if (progress !== null)
    return `${countOf(progress.files, 'file')} checked, ${formatCount(progress.read)} read`;
  if (current === null) return 'The first update has not started yet.';
  return `The last update took ${formatMs(current.ms)}.`;
}

function renderCorpus({ corpus, index, nowMs }: AnswersFigures): string {
  const items = corpus.map((path) => `<li><code>${escapeLine(path)}</code></li>`);
  const documents =
    items.length === 0
      ? '<p>The documentation of Perch. To use other documents, set <code>PERCH_CORPUS</code>.</p>'
      : `<ul class="paths">${items.join('')}</ul>`;
  const current = index?.current ?? null;
  const last =
    current === null
      ? ''
      : `<p class="soft">Index last checked: ${renderPast(current.atMs, nowMs)}. ${countOf(current.read, 'new or changed file')}, ${countOf(current.removed, 'removed file')}.</p>`;
  return `<section aria-labelledby="documents">
<h2 id="documents">Documents</h2>
${documents}
${last}
</section>`;
}

function renderModel({ modelId, counts, lastFallback, nowMs }: AnswersFigures): string {
  const last =
    lastFallback === null
      ? '<p>The model has completed all its answers since the start of the server.</p>'
      : `<p>The model did not complete the answers to ${countOf(counts.fallbacks, 'question')}. Last reason: ${escapeLine(lastFallback.message)} ${renderPast(lastFallback.atMs, nowMs)}</p>`;
  return `<section aria-labelledby="model">
<h2 id="model">Language model</h2>
<p><code>${escapeLine(modelId)}</code></p>
${last}
</section>`;
}

function renderDeclined({ declined, keep, nowMs }: AnswersFigures, site: Site): string {
  return `<section aria-labelledby="declined">
<h2 id="declined">Declined questions</h2>
${keep === 0 ? renderNotKept(site) : renderKept(declined, keep, nowMs)}
</section>`;
}

function renderNotKept(site: Site): string {
  return `<p class="empty">Perch does not keep declined questions. To see which questions your documents do not answer, set <code>PERCH_KEEP_DECLINED_QUESTIONS</code> to a number, such as 50. Questions can contain personal data: see ${renderLink(`${docsPath}/security#declined-questions`, 'privacy', site)}.</p>`;
}

function renderKept(declined: readonly DeclinedQuestion[], keep: number, nowMs: number): string {
  const privacy = `<p class="soft">Perch keeps the last ${countOf(keep, 'declined question')} in memory, without the client address and without anything else about the person who asked. A restart deletes them. Questions can contain personal data, so do not publish them.</p>`;
  if (declined.length === 0)
    return `${privacy}\n<p class="empty">No question was declined since the start.</p>`;
  const items = declined.map(({ text, times, atMs }) => {
    const often = times === 1 ? '' : ` <span class="badge">${formatCount(times)} times</span>`;
    return `<li><p class="question"><bdi>${escapeHtml(text)}</bdi>${often}</p><p class="soft">${renderPast(atMs, nowMs)}</p></li>`;
  });
  return `${privacy}\n<ul class="rows">${items.join('\n')}</ul>`;
}
