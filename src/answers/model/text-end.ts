import type { Stretch, ToStretches } from './markers.ts';

/** What a model writes where the passages do not answer. */
export const abstentionMark = 'NOT_ANSWERED';

/** Where the words of a model end before their end. */
export interface EarlyEnd {
  /** From the start of the first stretch. */
  readonly at: number;
  readonly kind: 'abstained' | 'sources';
}

/** A list of sources of its own: Perch writes it, from what was verified. */
const ownSources = /(?<![^\n])[#*_ \t]*(?:sources|references|citations)[:*_ \t]*\n/i;

/** Finds where a model says that it does not know, or begins a list of sources. */
export function findEnd(stretches: readonly Stretch[]): EarlyEnd | undefined {
  let at = 0;
  for (const { kind, text } of stretches) {
    if (kind === 'words') {
      const mark = text.indexOf(abstentionMark);
      if (mark >= 0) return { at: at + mark, kind: 'abstained' };
      const sources = ownSources.exec(text);
      if (sources !== null) return { at: at + sources.index, kind: 'sources' };
    }
    at += text.length;
  }
  return undefined;
}

/** What closes a sentence or a row, right after a citation. */
const closing = /(?:[.,;:!?…)*_"'’”\]]| \|)*/y;

/** A gap with the end of a line. */
const gap = /\s*\n/y;

/** Items or rows. */
const list = /(?:[ \t]*(?:[-*+]|\d+[.)]|\|)[^\n]*(?:\n|$))+/y;

/**
 * Gives what belongs to the citation at `from` of what follows it: the end of its sentence, code, and the
 * list that it introduces with a colon. Other words without a citation are left out.
 */
export function keptTail(text: string, from: number, toStretches: ToStretches): string {
  let end = endOf(closing, text, from);
  const next = () => attachedEnd(text, end, toStretches);
  for (let more = next(); more > end; more = next()) end = more;
  return text.slice(from, end).trimEnd();
}

function attachedEnd(text: string, at: number, toStretches: ToStretches): number {
  const start = endOf(gap, text, at);
  if (start === at) return at;
  const [next] = toStretches(text, start, 'whole');
  if (next?.kind === 'block') return start + next.text.length;
  if (!text.slice(0, at).endsWith(':')) return at;
  const end = endOf(list, text, start);
  return end === start ? at : end;
}

/** Where a form ends that begins at a place; the place itself where it does not begin there. */
function endOf(form: RegExp, text: string, at: number): number {
  form.lastIndex = at;
  const [found = ''] = form.exec(text) ?? [];
  return at + found.length;
}
