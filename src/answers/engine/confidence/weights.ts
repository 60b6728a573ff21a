/** How much each sign counts; how they were chosen is in docs/decisions/0035. */
export const weights = {
  /** What a synonym counts for, where the word itself counts 1. */
  synonym: 0.5,
  /** What the word of documentation for an everyday word counts for. */
  everyday: 0.3,
  /** What the correction of a misspelt word counts for. */
  correction: 0.9,
  /** What a word that most pages have counts for. */
  weakWord: 0.7,
  /** What each meaning of a phrase counts for, and how much a phrase matters. */
  phrase: 1,
  phraseWeight: 0.9,
  /** The power that rarity is raised to: below 1, rare words count less. */
  rarity: 0.8,
  /** How fast further mentions stop to count, and how much long passages lose. */
  saturation: 1.9,
  lengthLoss: 0.5,
  /** What a mention counts for in each field. */
  inTitle: 0.9,
  inTrail: 1.2,
  inHeading: 3,
  inBody: 1,
  inCode: 0.9,
  inNames: 1.5,
  /** What the signs of a passage count for, beside how well its words fit. */
  coverage: 0.5,
  headingCoverage: 0.5,
  headingFocus: 0.25,
  headingSaid: 0.25,
  titleCoverage: 0.35,
  leadCoverage: 0.4,
  proximity: 0.2,
  names: 0.4,
  file: 0.7,
  fileCoverage: 0.4,
  opening: 0.1,
  intent: 0.12,
  history: -0.3,
  thin: -0.2,
  /** What a second passage of a file loses. */
  sameFile: 0.35,
} as const satisfies Readonly<Record<string, number>>;

/** How much each sign counts; the bench tries others. */
export type Weights = Readonly<Record<keyof typeof weights, number>>;
