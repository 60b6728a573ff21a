/** JSON object of a server. */
export type Row = Readonly<Record<string, unknown>>;

/** Account payload. */
export interface AccountRow extends Row {
  readonly id: string;
  readonly username: string;
  readonly acct: string;
}

/** Post payload. */
export interface StatusRow extends Row {
  readonly id: string;
  readonly created_at: string;
  readonly account: AccountRow;
}

/** Server of the synthetic accounts. */
export const homeHost = 'reef.example.org';

/** Returns the payload of an account. If `acct` has a domain, the account is on another server. */
export function accountRow(acct: string, fields: Row = {}): AccountRow {
  const [username = '', host = homeHost] = acct.split('@');
  return {
    id: String(BigInt(`0x${Buffer.from(acct).toString('hex')}`)),
    username,
    acct,
    display_name: `${username} :wave:`,
    locked: false,
    bot: false,
    group: false,
    discoverable: true,
    created_at: '2022-11-07T00:00:00.000Z',
    note: `<p>${username} writes</p>`,
    url: `https://${host}/@${username}`,
    uri: `https://${host}/users/${username}`,
    avatar: `https://files.example.org/${username}.png`,
    avatar_static: `https://files.example.org/${username}.png`,
    header: `https://${host}/headers/original/missing.png`,
    header_static: `https://${host}/headers/original/missing.png`,
    followers_count: 3,
    following_count: 2,
    statuses_count: 40,
    last_status_at: '2026-01-01',
    hide_collections: false,
    emojis: [{ shortcode: 'wave', url: 'https://files.example.org/wave.png' }],
    fields: [],
    ...fields,
  };
}

/** Returns an id as Mastodon assigns it to a post at a given time. */
export function snowflake(ms: number, low = 0): string {
  return String((BigInt(ms) << 16n) + BigInt(low));
}

/** Returns the payload of a post by an account. */
export function statusRow(id: string, account: AccountRow, fields: Row = {}): StatusRow {
  const [, host = homeHost] = account.acct.split('@');
  return {
    id,
    created_at: new Date(Number(BigInt(id.replace(/\D/g, '') || '0') >> 16n)).toISOString(),
    in_reply_to_id: null,
    in_reply_to_account_id: null,
    sensitive: false,
    spoiler_text: '',
    visibility: 'public',
    language: 'en',
    uri: `https://${host}/users/${account.username}/statuses/${id}`,
    url: `https://${host}/@${account.username}/${id}`,
    replies_count: 0,
    reblogs_count: 1,
    favourites_count: 2,
    edited_at: null,
    content: `<p>Post ${id}</p>`,
    reblog: null,
    account,
    media_attachments: [],
    mentions: [],
    tags: [],
    emojis: [],
    quote: null,
    card: null,
    poll: null,
    ...fields,
  };
}

/** Returns the payload of an image. */
export function imageRow(name: string, fields: Row = {}): Row {
  return {
    id: name,
    type: 'image',
    url: `https://files.example.org/${name}.png`,
    preview_url: `https://files.example.org/${name}-small.png`,
    remote_url: null,
    description: `A picture of ${name}`,
    meta: { original: { width: 800, height: 600 }, small: { width: 400, height: 300 } },
    ...fields,
  };
}
