/**
 * Words in the header `User-Agent` by which FxTwitter detects link-preview crawlers. FxTwitter
 * sends crawlers no JSON.
 */
const words = [
  'discordbot',
  'telegrambot',
  'facebook',
  'whatsapp',
  'firefox/92',
  'vkshare',
  'revoltchat',
  'preview',
  'iframely',
] as const;

export const forbiddenInUserAgent = (userAgent: string): string | undefined =>
  words.find((word) => userAgent.toLowerCase().includes(word));
