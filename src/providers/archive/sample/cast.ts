import { toIsoSeconds } from '../../../core/clock.ts';
import { type Account, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/reference.ts';
import { ownAddress } from '../own-address.ts';
import { pictureUrl } from './compose-media.ts';
import { toId } from './post-id.ts';

/** An account of the sample, with the habits that its posts share. */
interface AccountDraft {
  readonly name: string;
  readonly description: string;
  readonly location: string | null;
  readonly website: string | null;
  /** ISO 8601, UTC, whole seconds, unlike any other account's. */
  readonly joined: string;
  /** Followers, following, statuses, media, likes. */
  readonly counts: readonly [number, number, number, number, number | null];
  readonly verified: 'individual' | 'organization' | 'government' | null;
  /** The language that it mostly writes in. */
  readonly lang: string;
  /** The client that it writes with. */
  readonly client: string;
  /** Its posts do not tell how often they were seen. */
  readonly hidesViews: boolean;
}

/** The people and offices of the sample by name; the handle is the name with `.example`. */
export const cast = {
  ada: {
    name: 'Ada Fenwick',
    description:
      'I keep nine sluice gates and one bird diary on the Saltmere estuary. The gates are the easier ones to read. #BirdDiary',
    location: 'Saltmere',
    website: 'https://diary.example',
    joined: '2024-01-06T19:20:11Z',
    counts: [4812, 214, 1306, 388, 9120],
    verified: 'individual',
    lang: 'en',
    client: 'Web',
    hidesViews: false,
  },
  harbour: {
    name: 'Saltmere Harbour Office',
    description:
      'Tides, closures and the occasional seal. Staffed daily, 08:00–16:30. In an emergency ring the bell.',
    location: 'Quay 1, Saltmere',
    website: 'https://harbour.example',
    joined: '2024-01-03T09:00:00Z',
    counts: [7340, 12, 2911, 402, 88],
    verified: 'government',
    lang: 'en',
    client: 'Harbour desk',
    hidesViews: false,
  },
  noor: {
    name: 'نور القاسم',
    description: 'فلكيّة. أعدّ النجوم المتغيّرة، وأخطئ في عدّ فناجين القهوة. I also answer in English.',
    location: 'مرصد تلّ الريح',
    website: 'https://windhill.example/noor',
    joined: '2024-01-15T21:47:30Z',
    counts: [11840, 301, 2204, 517, 15033],
    verified: 'individual',
    lang: 'ar',
    client: 'Web',
    hidesViews: false,
  },
  haru: {
    name: 'はる｜パン屋 麦の音',
    description: '山のふもとの小さなパン屋です。朝4時起き。木曜定休。売り切れたら閉めます。',
    location: '長野のどこか',
    website: 'https://mugi-no-oto.example',
    joined: '2024-02-01T18:05:09Z',
    counts: [3260, 98, 1784, 1120, 6402],
    verified: null,
    lang: 'ja',
    client: 'Phone',
    hidesViews: false,
  },
  faro: {
    name: 'Inés, la del faro',
    description:
      'Farera de Punta Bruma. 187 escalones, una lámpara, dos gatos. Escribo cuando no hay niebla, o sea, poco.',
    location: 'Punta Bruma',
    website: null,
    joined: '2024-01-22T23:10:45Z',
    counts: [5925, 143, 964, 276, 4410],
    verified: null,
    lang: 'es',
    client: 'Phone',
    hidesViews: false,
  },
  'unfinished-maps': {
    name: 'Museum of Unfinished Maps',
    description:
      'Muzeum nedokončených map. 412 maps, none of them done. Open Wednesday to Sunday; please use the side door, the front door is still a sketch.',
    location: 'Old Mill, second floor',
    website: 'https://unfinished-maps.example',
    joined: '2024-01-09T10:30:00Z',
    counts: [9107, 186, 1420, 811, 2308],
    verified: 'organization',
    lang: 'en',
    client: 'Museum desk',
    hidesViews: false,
  },
  bruna: {
    name: 'Bruna Tavares',
    description:
      'Escrevo parsers. I write parsers. They disagree. Maintainer of a small Markdown reader that nobody asked for.',
    location: 'Porto, no terceiro andar',
    website: 'https://bruna.example/notes',
    joined: '2024-01-11T14:02:58Z',
    counts: [2870, 355, 3120, 149, 12004],
    verified: null,
    lang: 'en',
    client: 'Terminal',
    hidesViews: false,
  },
  minji: {
    name: '민지 | 글자 공방',
    description: '글꼴을 그립니다. I draw letters, mostly Hangul, sometimes everything else.',
    location: '부산',
    website: 'https://letterworks.example',
    joined: '2024-02-14T06:33:21Z',
    counts: [6044, 410, 1575, 690, 8123],
    verified: null,
    lang: 'ko',
    client: 'Web',
    hidesViews: false,
  },
  otto: {
    name: 'Otto Brandl',
    description: 'Straßenbahnfahrer a. D. 31 Jahre Linie 4. Jetzt zu Fuß, und trotzdem pünktlich.',
    location: 'Endstation Waldrand',
    website: null,
    joined: '2024-03-02T07:04:00Z',
    counts: [640, 77, 2450, 31, 20417],
    verified: null,
    lang: 'de',
    client: 'Phone',
    hidesViews: false,
  },
  miriam: {
    name: 'Miriam Gelber · מרים',
    description: 'Archivist of letters nobody sent. ייִדיש, עברית, and a great deal of dust.',
    location: 'Antwerp',
    website: 'https://unsent.example',
    joined: '2024-02-20T12:15:40Z',
    counts: [2195, 164, 802, 133, 3900],
    verified: null,
    lang: 'en',
    client: 'Web',
    hidesViews: true,
  },
  shirin: {
    name: 'شیرین | مرمت کاغذ',
    description: 'کاغذهای خسته را دوباره صاف می‌کنم. مرمت‌گر نسخه‌های خطی، با صبر و چسبِ گندم.',
    location: 'شیراز',
    website: null,
    joined: '2024-03-21T05:45:12Z',
    counts: [1788, 120, 611, 240, null],
    verified: null,
    lang: 'fa',
    client: 'Web',
    hidesViews: true,
  },
  devika: {
    name: 'देविका | Devika',
    description: 'गणित की अध्यापिका, कक्षा 8-ब। Puzzles on Mondays, chalk on everything.',
    location: 'जयपुर',
    website: 'https://monday-puzzle.example',
    joined: '2024-02-05T03:12:26Z',
    counts: [8455, 222, 1990, 204, 7781],
    verified: null,
    lang: 'en',
    client: 'Phone',
    hidesViews: false,
  },
  eleni: {
    name: 'Ελένη, πρώτη μηχανή',
    description: 'Μηχανικός σε πλοίο της γραμμής. Το πλοίο κουνάει, ο καφές όχι.',
    location: 'κάπου στο Αιγαίο',
    website: null,
    joined: '2024-04-08T16:50:03Z',
    counts: [1402, 91, 733, 188, 2650],
    verified: null,
    lang: 'el',
    client: 'Phone',
    hidesViews: true,
  },
  rada: {
    name: 'Рада от хижата',
    description:
      'Хижарка на 2135 метра. Чай има винаги, ток понякога, обхват само до голямата скала.',
    location: 'хижа „Три кладенеца“',
    website: null,
    joined: '2024-03-15T11:28:37Z',
    counts: [1120, 64, 590, 207, 3118],
    verified: null,
    lang: 'bg',
    client: 'Phone',
    hidesViews: false,
  },
  ploy: {
    name: 'พลอยวาดตลาด',
    description: 'วาดรูปตลาดริมคลองทุกเช้าวันเสาร์ สีน้ำ หมึก และคราบน้ำเต้าหู้',
    location: 'ริมคลอง',
    website: 'https://ploy-sketches.example',
    joined: '2024-05-01T02:22:18Z',
    counts: [4630, 175, 880, 702, 5240],
    verified: null,
    lang: 'th',
    client: 'Tablet',
    hidesViews: false,
  },
  zhong: {
    name: '钟师傅',
    description: '姓钟，修钟。巷子里第三家，门口的钟不准，是故意的。',
    location: '老城，槐树巷',
    website: null,
    joined: '2024-04-19T00:58:54Z',
    counts: [3377, 58, 1043, 315, 1990],
    verified: null,
    lang: 'zh',
    client: 'Phone',
    hidesViews: false,
  },
} as const satisfies Readonly<Record<string, AccountDraft>>;

/** The name of an account of the sample. */
export type AuthorName = keyof typeof cast;

/** Gives the accounts of the sample by name. */
export function composeAccounts(): ReadonlyMap<AuthorName, Account> {
  const names = Object.keys(cast) as AuthorName[]; // the table is closed: its keys are the names
  return new Map(names.map((name) => [name, composeAccount(name, cast[name])]));
}

function composeAccount(name: AuthorName, draft: AccountDraft): Account {
  const handle = `${name}.example`;
  const [followers, following, statuses, mediaCount, likes] = draft.counts;
  return {
    id: toId(draft.joined),
    screen_name: handle,
    name: draft.name,
    url: profileUrl('sample', handle, ownAddress),
    description: draft.description,
    location: draft.location,
    avatar_url: pictureUrl(`avatars/${name}`),
    banner_url: draft.verified === null ? null : pictureUrl(`banners/${name}`),
    website: toWebsite(draft.website),
    followers,
    following,
    statuses,
    media_count: mediaCount,
    likes,
    joined: toIsoSeconds(Date.parse(draft.joined)),
    protected: false,
    verification: { verified: draft.verified !== null, type: draft.verified },
    platform: 'sample',
  };
}
