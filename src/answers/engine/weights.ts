/** Weights of words and fields. docs/decisions/0035 explains how the numbers were chosen. */
export const weights = {
  /** Factor of a synonym; the word itself has 1. */
  synonym: 0.5,
  /** Factor of the technical word for an everyday word. */
  everyday: 0.3,
  /** Factor of the correction of a misspelt word. */
  correction: 0.9,
  /** Factor of a word that most pages contain. */
  weakWord: 0.7,
  /** Factor of each meaning of a phrase, and of the phrase as a whole. */
  phrase: 1,
  phraseWeight: 0.9,
  /** Exponent of the inverse document frequency. Below 1, rare words count less. */
  rarity: 0.8,
  /** BM25F saturation of repeated mentions, and penalty for long passages. */
  saturation: 1.9,
  lengthLoss: 0.5,
  /** Weight of a mention in each field. */
  inTitle: 0.9,
  inTrail: 1.2,
  inHeading: 3,
  inBody: 1,
  inCode: 0.9,
  inNames: 1.5,
  /** Penalty of a second passage of the same file. */
  sameFile: 0.35,
} as const;

/** Weights of the features of a passage, in addition to `fit`. */
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
