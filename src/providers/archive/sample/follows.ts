import type { AuthorName } from './cast.ts';

/** Whom each account of the sample follows. */
export const follows: Readonly<Record<AuthorName, readonly AuthorName[]>> = {
  ada: ['harbour', 'otto', 'noor', 'devika', 'faro', 'unfinished-maps', 'bruna', 'eleni'],
  harbour: ['ada', 'faro'],
  noor: ['ada', 'faro', 'shirin', 'devika', 'unfinished-maps', 'miriam'],
  haru: ['ada', 'minji', 'ploy', 'zhong', 'rada'],
  faro: ['ada', 'harbour', 'noor', 'eleni', 'rada', 'unfinished-maps'],
  'unfinished-maps': ['ada', 'miriam', 'shirin', 'noor', 'faro', 'minji', 'zhong'],
  bruna: ['ada', 'minji', 'devika', 'otto', 'unfinished-maps'],
  minji: ['bruna', 'shirin', 'haru', 'miriam', 'ploy', 'ada'],
  otto: ['ada', 'rada', 'bruna', 'haru', 'zhong', 'eleni', 'harbour', 'devika', 'miriam'],
  miriam: ['shirin', 'unfinished-maps', 'minji', 'otto', 'zhong'],
  shirin: ['miriam', 'noor', 'unfinished-maps', 'minji'],
  devika: ['ada', 'noor', 'bruna', 'zhong', 'otto'],
  eleni: ['faro', 'harbour', 'ada', 'otto', 'rada'],
  rada: ['otto', 'faro', 'eleni', 'haru', 'ada'],
  ploy: ['haru', 'minji', 'zhong', 'rada'],
  zhong: ['haru', 'otto', 'miriam', 'devika', 'ploy'],
};
