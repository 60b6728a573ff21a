/**
 * Search weights of words and text fields. docs/decisions/0035 explains how the numbers were
 * chosen.
 */
export const weights = {
  /** Search weight of a synonym, relative to 1 for the word in the question. */
  synonym: 0.5,
  /**
   * Search weight of a technical word that the engine searches for in place of an everyday word.
   */
  everyday: 0.3,
  /**
   * Search weight of a spelling correction, relative to 1 for a word of the question that the index
   * contains.
   */
  correction: 0.9,
  /**
   * Factor that reduces the search weight of words that most pages contain, such as “add”
   * (`weak-words.txt`).
   */
  weakWord: 0.7,
  /**
   * Search weight of each word that the engine searches for in place of a phrase in `phrases.txt`.
   */
  phrase: 1,
  /**
   * Factor that reduces the search weight of a phrase in `phrases.txt`, compared with a single
   * word.
   */
  phraseWeight: 0.9,
  /**
   * Exponent of the inverse document frequency. A value below 1 reduces the weight of rare words.
   */
  rarity: 0.8,
  /** BM25F parameter that limits the effect of repeated occurrences of a term. */
  saturation: 1.9,
  /** BM25F parameter from 0 to 1. A higher value reduces the scores of long passages more. */
  lengthLoss: 0.5,
  /** Weight of an occurrence of a term in the title of the file. */
  inTitle: 0.9,
  /**
   * Weight of an occurrence of a term in the headings of the sections that contain the passage's
   * section.
   */
  inTrail: 1.2,
  /** Weight of an occurrence of a term in the heading of the passage. */
  inHeading: 3,
  /** Weight of an occurrence of a term in the text of the passage, outside code. */
  inBody: 1,
  /** Weight of an occurrence of a term in the code of the passage. */
  inCode: 0.9,
  /** Weight of an occurrence of a term as an identifier. */
  inNames: 1.5,
  /**
   * Amount subtracted from a passage's score for each passage of the same file that was already
   * chosen.
   */
  sameFile: 0.35,
} as const;

/**
 * Weights of the features of a passage. The score of a passage is the weighted sum of its features.
 * The feature `fit` (BM25F score) is not listed, because its weight is 1.
 */
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
