import type { FastifyRequest } from 'fastify';

/** The request that a question comes with. */
export type AskRequest = FastifyRequest;

/** What a page that is asked gets; sessions stand behind it, which pages do not know. */
export interface Asking {
  /** Where the session routes are: `/svc/v1`. */
  readonly sessionBase: string;
  /** Whether answers are about the pages of this site, so that their citations lead there. */
  readonly isAboutPages: boolean;
  /**
   * Answers one question, without a session, as far as the server lets this caller.
   *
   * @throws Problem `not_ready`, `shutting_down`, `rate_limited`, `overloaded`
   */
  answer(question: string, request: AskRequest): Promise<PageAnswer>;
}

/** An answer for a page. */
export interface PageAnswer {
  /** Markdown; its citations are `path#heading:line`. */
  readonly text: string;
  readonly abstained: boolean;
}
