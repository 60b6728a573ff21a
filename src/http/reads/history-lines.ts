import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../core/problem.ts';
import type { HistoryEnd } from '../../fetching/histories/history-end.ts';
import type { HistoryImport } from '../../fetching/histories/import-history.ts';
import { type HistoryAbout, renderPostLines, toMetaLine } from '../../render/history.ts';
import { describeProblem, toProblem } from '../../web/errors.ts';

export interface LineExchange {
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
}

export interface SentHistory {
  readonly about: HistoryAbout;
  readonly posts: HistoryImport['posts'];
}

/** Sends a history as NDJSON lines. Reads on when lines are flushed, so that a slow reader slows the import down. */
export async function sendHistoryLines(
  { request, response }: LineExchange,
  { about, posts }: SentHistory,
  baseUrl: string,
): Promise<void> {
  const write = createLineWriter(response);
  try {
    let step = await posts.next();
    for (; step.done !== true; step = await posts.next()) {
      await write(renderPostLines(about, step.value));
      if (response.destroyed) return;
    }
    await write(renderEnd(step.value, { about, request, baseUrl }));
  } catch (error) {
    // Whoever has left reads no line.
    if (!(error instanceof Error) || request.signal.aborted) return;
    const { document } = describeProblem(toProblem(error, request), request, baseUrl);
    await write(`${JSON.stringify({ error: document })}\n`);
  } finally {
    await posts.close();
    response.end();
  }
}

interface EndSetting {
  readonly about: HistoryAbout;
  readonly request: FastifyRequest;
  readonly baseUrl: string;
}

function renderEnd(end: HistoryEnd, { about, request, baseUrl }: EndSetting): string {
  const line = toMetaLine(about, end);
  if (!(end.failure instanceof Problem)) return `${JSON.stringify(line)}\n`;
  const { document } = describeProblem(end.failure, request, baseUrl);
  return `${JSON.stringify({ error: { ...document, ...line } })}\n`;
}

/** Resolves when the bytes are flushed, or the reader is gone. */
function createLineWriter(response: ServerResponse): (text: string) => Promise<void> {
  let goOn: () => void = () => undefined;
  response.on('error', () => goOn());
  response.on('close', () => goOn());
  return (text) =>
    new Promise((resolve) => {
      goOn = resolve;
      if (response.destroyed) resolve();
      else response.write(text, () => resolve());
    });
}
