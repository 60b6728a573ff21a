import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../core/problem.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, sendPrepared } from '../../../web/reply.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import { renderPage } from '../layout.ts';
import { preparePage } from '../page-headers.ts';
import { findPath } from '../paths.ts';
import { readText } from '../query-text.ts';
import type { Docs } from './docs.ts';
import { describeFindPage, writeFindings } from './find-page.ts';

/** The context of the search's route. */
export interface FindOptions {
  /** @throws Problem `route_not_found` where there is no documentation */
  open(): Docs;
}

/** Registers the search of the documentation: HTML, or JSON where `Accept` prefers it. */
export async function findPlugin(app: FastifyInstance, { open }: FindOptions) {
  app.get(findPath, async (request, reply) => {
    const isJson = negotiate(request.headers.accept, offers.read) === 'json';
    const query = readText(request);
    if (isJson && query === '') {
      throw new Problem('missing_query', {
        detail: 'The parameter `q` is missing or empty; it takes the text to look for.',
      });
    }
    const { site, find } = open();
    const findings = { query, hits: query === '' ? [] : await find(query) };
    const text = isJson
      ? JSON.stringify(writeFindings(findings, site))
      : renderPage(describeFindPage(findings, site), site);
    const format = isJson ? 'json' : 'html';
    sendPrepared(
      { request, reply },
      preparePage({ text, format, isNegotiated: true }),
      nothingOfItsOwn,
    );
  });
  refuseOtherMethods(app, findPath, { allow: ['GET', 'HEAD'] });
}
