export type { Deprecation } from './deprecation.ts';
export {
  type Answer,
  type AnyPerchError,
  ConnectionError,
  DeadlineError,
  PerchError,
  ProblemError,
  ResponseError,
  TurnError,
} from './errors.ts';
export type * from './generated.ts';
export type { History, HistoryMeta } from './history.ts';
export type { List, Page } from './lists.ts';
export type {
  CachedReply,
  CallOptions,
  Clock,
  Fetch,
  PerchOptions,
  ReplyCache,
} from './options.ts';
export { createPerch, type Perch, type PostAddress } from './perch.ts';
export type { AskOptions, EventsOptions, Sessions } from './sessions.ts';
export type { Session, Turn } from './turns.ts';
