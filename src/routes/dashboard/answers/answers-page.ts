import type { SkipReason } from '../../../answers/corpus/corpus.ts';
import type { IndexState } from '../../../answers/index/passage-index.ts';
import type { RefreshResult } from '../../../answers/index/refresh.ts';
import type { DeclinedQuestion, LastFallback } from '../../../answers/question-record.ts';
import { type Html, type HtmlPart, html } from '../../../render/html/markup.ts';
import { toLine } from '../../../render/markdown/characters.ts';
import { docsPath, renderLink, type Site } from '../../pages/layout.ts';
import {
  renderAlerts,
  renderBadge,
  renderRows,
  renderSection,
  renderTiles,
  type Tile,
} from '../layout.ts';
import { countOf, formatCount, formatMs, formatShare, renderPast } from '../numbers.ts';

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
export function renderAnswers(figures: AnswersFigures | null, site: Site): Html {
  if (figures === null) {
    return html`<h1>Answers</h1>
<p class="empty">Questions are turned off (<code>PERCH_SESSIONS</code>).</p>`;
  }
  const { index, nowMs, hasModel } = figures;
  const failure = index?.failure;
  return html`<h1>Answers</h1>
<p class="lede">Questions about documents, in ${renderLink(`${docsPath}/sessions`, 'sessions', site)} and on the page ${renderLink(`${docsPath}/ask`, 'Ask', site)}.</p>
${failure && renderAlerts([html`The index of the documents could not be updated: ${toLine(failure.message)} ${renderPast(failure.atMs, nowMs)}`])}
${renderTiles(listTiles(figures))}
${renderSection('documents', 'Documents', renderCorpus(figures))}
${hasModel && renderSection('model', 'Language model', renderModel(figures))}
${renderSection('declined', 'Declined questions', renderDeclined(figures, site))}`;
}

function listTiles({ index, isReady, counts }: AnswersFigures): readonly Tile[] {
  const { answered, declined } = counts;
  const asked = answered + declined;
  const { current = null } = index ?? {};
  const share = formatShare(declined, asked);
  const sinceStart = 'since the start of the server';
  const passages =
    current === null
      ? 'The index is not complete yet.'
      : [countOf(current.passages, 'passage'), ...describeSkipped(current.skipped)].join(', ');
  return [
    ['Index', describeIndex(index, isReady), describeProgress(index)],
    ['Files', current === null ? 'Unknown' : formatCount(current.files), passages],
    ['Answered questions', formatCount(answered), sinceStart],
    [
      'Declined questions',
      formatCount(declined),
      share === null ? sinceStart : `${share} of ${countOf(asked, 'question')}`,
    ],
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

function renderCorpus({ corpus, index, nowMs }: AnswersFigures): readonly HtmlPart[] {
  const { current = null } = index ?? {};
  return [
    corpus.length === 0
      ? html`<p>The documentation of Perch. To use other documents, set <code>PERCH_CORPUS</code>.</p>`
      : html`<ul class="paths">${corpus.map((path) => html`<li><code>${toLine(path)}</code></li>`)}</ul>`,
    current &&
      html`<p class="soft">Index last checked: ${renderPast(current.atMs, nowMs)}. ${countOf(current.read, 'new or changed file')}, ${countOf(current.removed, 'removed file')}.</p>`,
  ];
}

const renderModel = ({ modelId, counts, lastFallback, nowMs }: AnswersFigures) =>
  html`<p><code>${toLine(modelId)}</code></p>
${
  lastFallback === null
    ? html`<p>The model has completed all its answers since the start of the server.</p>`
    : html`<p>The model did not complete the answers to ${countOf(counts.fallbacks, 'question')}. Last reason: ${toLine(lastFallback.message)} ${renderPast(lastFallback.atMs, nowMs)}</p>`
}`;

function renderDeclined({ declined, keep, nowMs }: AnswersFigures, site: Site): Html {
  if (keep === 0) {
    return html`<p class="empty">Perch does not keep declined questions. To see which questions your documents do not answer, set <code>PERCH_KEEP_DECLINED_QUESTIONS</code> to a number, such as 50. Questions can contain personal data: see ${renderLink(`${docsPath}/security#declined-questions`, 'privacy', site)}.</p>`;
  }
  const items = declined.map(({ text, times, atMs }) => {
    const often = times > 1 && html` ${renderBadge(`${formatCount(times)} times`)}`;
    return html`<p class="question"><bdi>${text}</bdi>${often}</p><p class="soft">${renderPast(atMs, nowMs)}</p>`;
  });
  return html`<p class="soft">Perch keeps the last ${countOf(keep, 'declined question')} in memory, without the client address and without anything else about the person who asked. A restart deletes them. Questions can contain personal data, so do not publish them.</p>
${renderRows(items, 'No question was declined since the start.')}`;
}
