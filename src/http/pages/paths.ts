export const docsPath = '/docs';

/** The search. `/docs/search` is the page about searching posts. */
export const findPath = `${docsPath}/find`;

/** The page that answers questions, on a server with sessions. */
export const askPath = `${docsPath}/ask`;

/** Prefix of the assets. */
export const assetPath = `${docsPath}/assets/`;

/** Maximum characters of a search text and of a question, as for every `q`. */
export const maxQueryLength = 512;
