import type { Origins } from '../../core/origins.ts';
import type { Turns } from '../../core/turns.ts';
import type { PlanContext } from '../../reads/read.ts';
import type { Reader } from '../../reads/run.ts';
import type { AccessLog } from '../access-log.ts';
import type { Identification } from '../identity.ts';
import type { Load } from '../load.ts';
import type { Work } from '../work.ts';
import type { Site } from './layout.ts';

/** The context of the front page: all that it may use. */
export interface FrontOptions {
  readonly site: Site;
  readonly origins: Origins;
  /** Whether the archive holds the sample, which can be read without a network. */
  readonly hasSample: boolean;
  readonly reader: Reader;
  readonly context: PlanContext;
  /** Turns of clients with work that takes long. */
  readonly heavyTurns: Turns;
  readonly identification: Identification;
  readonly sharedCacheSeconds: number;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}
