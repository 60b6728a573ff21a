/** Names (RFC 9309 §2.2.1) of fetchers, documented by their owners, that act for one person. */
export const personalFetchers: readonly string[] = [
  'ChatGPT-User', // https://platform.openai.com/docs/bots
  'Claude-User', // https://support.claude.com/en/articles/8896518
  'Perplexity-User', // https://docs.perplexity.ai/guides/bots
  'MistralAI-User', // https://docs.mistral.ai/robots
  'ModelContextProtocol', // https://github.com/modelcontextprotocol/servers/tree/main/src/fetch
  'meta-externalfetcher', // https://developers.facebook.com/docs/sharing/webmasters/web-crawlers
  'Amzn-User', // https://developer.amazon.com/amazonbot
  // https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers
  'Google-NotebookLM',
  'Google-GeminiNotebook',
];
