/** Weights of words and their places; docs/decisions/0035 says how the numbers were chosen. */
export const weights = {
  /** A synonym, where the word itself counts 1. */
  synonym: 0.5,
  /** The word that documentation uses for an everyday word. */
  everyday: 0.3,
  /** The correction of a misspelt word. */
  correction: 0.9,
  /** A word that most pages have. */
  weakWord: 0.7,
  /** Each meaning of a phrase, and the phrase as a whole. */
  phrase: 1,
  phraseWeight: 0.9,
  /** The power that rarity is raised to: below 1, rare words count less. */
  rarity: 0.8,
  /** Saturation of further mentions, and the loss of long passages. */
  saturation: 1.9,
  lengthLoss: 0.5,
  /** A mention in each field. */
  inTitle: 0.9,
  inTrail: 1.2,
  inHeading: 3,
  inBody: 1,
  inCode: 0.9,
  inNames: 1.5,
  /** Loss of a second passage of the same file. */
  sameFile: 0.35,
} as const;

/** Weights of the signs of a passage, beside the fit of its words. */
export const signWeights = {
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
} as const;
