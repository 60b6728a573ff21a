import type { PostDraft } from '../drafts.ts';

/** Ploy's sketches of the market on the canal; one of them is marked as sensitive. */
export const market: readonly PostDraft[] = [
  {
    key: 'market-first',
    by: 'ploy',
    at: '2024-05-04T01:30:17Z',
    text: 'วันเสาร์แรกของสมุดเล่มใหม่ วาดป้าขายขนมครกได้ครึ่งหน้า อีกครึ่งหน้าเป็นขนมครก (คราบ) #ตลาดริมคลอง',
    likes: 388,
    media: [
      {
        kind: 'photo',
        name: 'khanom-khrok-sketch',
        size: [1400, 1000],
        alt: 'ภาพสีน้ำหญิงขายขนมครกหลังเตาดิน มุมขวาล่างของกระดาษมีคราบกะทิวงใหญ่',
      },
    ],
  },
  {
    key: 'boat-race',
    by: 'ploy',
    at: '2024-08-10T02:12:40Z',
    text: 'เรือผักกับเรือก๋วยเตี๋ยวแย่งที่จอดกัน สุดท้ายเรือไอติมได้ไป',
    likes: 644,
    media: [
      {
        kind: 'video',
        name: 'three-boats',
        size: [1080, 1920],
        seconds: 23.8,
        alt: 'เรือสามลำในคลองแคบ เรือไอศกรีมแทรกเข้าไปจอดตรงกลางอย่างช้า ๆ',
      },
    ],
  },
  {
    key: 'boat-race-2',
    by: 'haru',
    at: '2024-08-10T03:05:28Z',
    text: 'アイスの勝ち。どこの国でもそうですね。🍦',
    likes: 155,
    to: 'boat-race',
  },
  {
    key: 'snake',
    by: 'ploy',
    at: '2025-05-31T01:48:06Z',
    text: 'เตือนก่อนเปิดดู: งูเหลือมกำลังกินหนูหลังร้านน้ำเต้าหู้ วาดจากของจริง มือสั่นนิดหน่อย ลุงเจ้าของร้านบอกว่างูช่วยจ่ายค่าเช่า',
    likes: 297,
    sensitive: true,
    media: [
      {
        kind: 'photo',
        name: 'python-sketch',
        size: [1400, 1000],
        alt: 'ภาพหมึกงูเหลือมขดตัวกำลังกลืนหนู เส้นสั่นเล็กน้อย',
      },
    ],
  },
  {
    key: 'four-sketches',
    by: 'ploy',
    at: '2025-12-20T02:30:59Z',
    text: 'สี่เช้า สี่หน้า คนเดิม ร้านเดิม แสงไม่เคยเหมือนเดิม',
    likes: 910,
    media: [
      { kind: 'photo', name: 'canal-rain', size: [1200, 1600], alt: 'ตลาดริมคลองตอนฝนตก โทนสีเทา' },
      { kind: 'photo', name: 'canal-sun', size: [1200, 1600], alt: 'ตลาดเดียวกันตอนแดดออก โทนสีส้ม' },
      { kind: 'photo', name: 'canal-fog', size: [1200, 1600], alt: 'ตลาดเดียวกันในหมอก เห็นแต่ร่ม' },
    ],
  },
  {
    key: 'four-sketches-2',
    by: 'minji',
    at: '2025-12-20T03:14:33Z',
    text: '네 장이라고 하셨는데 세 장이네요?',
    likes: 88,
    to: 'four-sketches',
  },
  {
    key: 'four-sketches-3',
    by: 'ploy',
    at: '2025-12-20T03:20:10Z',
    text: 'หน้าที่สี่ตกคลองค่ะ ปลาได้ดูคนแรก 🐟',
    likes: 733,
    to: 'four-sketches-2',
  },
  {
    key: 'market-today',
    by: 'ploy',
    at: '2026-06-27T01:55:42Z',
    text: 'วันนี้ป้าขายขนมครกขอวาดรูปเราบ้าง สวยกว่าตัวจริงสามเท่า ส่วนขนมครกในรูปใหญ่เท่าเรือ',
    likes: 1180,
  },
];
