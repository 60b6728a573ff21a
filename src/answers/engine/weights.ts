/** Search weights of words and text fields, chosen as in docs/decisions/0035. */
export const weights = {
  /** Search weight of a synonym, relative to 1 for the word in the question. */
  synonym: 0.5,
  /** Weight of a technical word that replaces an everyday word. */
  everyday: 0.3,
  /** Weight of a spelling correction, relative to a word that the index contains. */
  correction: 0.9,
  /** Factor for words that most pages contain, such as “add” (`weak-words.txt`). */
  weakWord: 0.7,
  /** Weight of each word that replaces a phrase in `phrases.txt`. */
  phrase: 1,
  /** Factor for a phrase in `phrases.txt`, compared with a single word. */
  phraseWeight: 0.9,
  /** Exponent of the inverse document frequency. Below 1, rare words count less. */
  rarity: 0.8,
  /** BM25F parameter that limits the effect of repeated occurrences of a term. */
  saturation: 1.9,
  /** BM25F parameter from 0 to 1. A higher value reduces the scores of long passages more. */
  lengthLoss: 0.5,
  inTitle: 0.9,
  /** Weight of a term in the headings of the containing sections. */
  inTrail: 1.2,
  inHeading: 3,
  /** Weight of an occurrence of a term in the text of the passage, outside code. */
  inBody: 1,
  inCode: 0.9,
  /** Weight of an occurrence of a term as an identifier. */
  inNames: 1.5,
  /** Amount subtracted for each passage of the same file that was already chosen. */
  sameFile: 0.35,
} as const;

/** Weights of the features, whose weighted sum is the score. `fit` (BM25F) has the weight 1. */
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
  defines: 2,
  quoted: 1.5,
  undocumented: -0.6,
  file: 0.7,
  fileCoverage: 0.4,
  opening: 0.1,
  intent: 0.12,
  history: -0.3,
  forDevelopers: -1,
  thin: -0.2,
} as const;
