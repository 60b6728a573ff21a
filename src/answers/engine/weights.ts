/** Search weights of words and text fields. docs/decisions/0035 explains how the numbers were chosen. */
export const weights = {
  /** Search weight of a synonym, relative to 1 for the word in the question. */
  synonym: 0.5,
  /** Search weight of a technical word that the engine searches for in place of an everyday word. */
  everyday: 0.3,
  /** Search weight of the correction of a misspelt word. */
  correction: 0.9,
  /** Weight factor of a word that most pages contain. */
  weakWord: 0.7,
  /** Weight factor of each word that the engine also searches for if a question has a known phrase. */
  phrase: 1,
  /** Weight factor of the search for a known phrase, beside the searches for other words of the question. */
  phraseWeight: 0.9,
  /** Exponent of the inverse document frequency. A value below 1 reduces the weight of rare words. */
  rarity: 0.8,
  /** BM25F parameters: `saturation` of repeated mentions, and `lengthLoss`, the penalty for long passages. */
  saturation: 1.9,
  lengthLoss: 0.5,
  /** Weight of an occurrence of a term in the title. The next five weights are for the other text fields. */
  inTitle: 0.9,
  inTrail: 1.2,
  inHeading: 3,
  inBody: 1,
  inCode: 0.9,
  inNames: 1.5,
  /** Score penalty of a passage for each passage of the same file that was already chosen. */
  sameFile: 0.35,
} as const;

/** Weights of the features of a passage other than `fit`, whose weight is 1. */
export const featureWeights = {
  coverage: 0.5,
  headingCoverage: 0.5,
  headingFocus: 0.25,
  asked: 0.5,
  headingQuoted: 0.25,
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
