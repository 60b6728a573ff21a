/** Words in `User-Agent` by which FxTwitter detects crawlers, to which it sends no JSON. */
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
