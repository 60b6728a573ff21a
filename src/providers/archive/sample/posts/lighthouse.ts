import type { PostDraft } from '../drafts.ts';

/** The lighthouse of Punta Bruma, with the thread of the storm whose third post is gone. */
export const lighthouse: readonly PostDraft[] = [
  {
    key: 'faro-first',
    by: 'faro',
    at: '2024-02-03T20:15:33Z',
    text: 'Me preguntan si no me aburro. Hoy he hablado con un pesquero, dos cargueros, una ballena (sin respuesta) y el gato (con demasiadas respuestas).',
    likes: 251,
  },
  {
    key: 'steps',
    by: 'faro',
    at: '2024-06-19T08:44:10Z',
    text: '187 escalones. Si olvidas las gafas arriba, son 561.',
    likes: 690,
  },
  {
    key: 'steps-2',
    by: 'otto',
    at: '2024-06-19T09:20:45Z',
    text: 'In der Straßenbahn: drei Stufen. Wenn der Fahrer die Brille vergisst: eine Schlagzeile.',
    likes: 133,
    to: 'steps',
  },
  {
    key: 'lens',
    by: 'faro',
    at: '2024-09-14T19:02:57Z',
    text: `Cada verano alguien me pregunta cómo gira la lámpara, y cada verano lo cuento mal. Esta vez lo escribo.

La lente pesa casi tres toneladas: vidrio tallado, bronce y un siglo de huellas de trapo. Nada tan pesado debería moverse con un dedo. Y se mueve. Flota en una cuba de mercurio, como un barco que nunca sale de puerto, y el mercurio no le pone resistencia: basta un motor del tamaño de una caja de zapatos. Antes del motor había un reloj de pesas, y antes del sueño del farero estaba la cuerda de ese reloj, que había que subir cada cuatro horas.

Lo que se ve desde el mar no es una luz que se enciende y se apaga. La luz no se apaga nunca. Son doce haces quietos que giran, como los radios de una rueda, y el barco ve pasar uno, y luego otro, y cuenta los segundos entre los dos. Ese silencio entre haz y haz es nuestro nombre. El mío dura siete segundos y medio.

Yo no aviso a nadie de nada. Solo digo quién soy, toda la noche, a todo el que pregunte.`,
    likes: 1904,
    styles: [['italic', 'quién soy']],
  },
  {
    key: 'lens-2',
    by: 'noor',
    at: '2024-09-14T20:31:16Z',
    text: 'نجوم نابضة على الساحل: نعرف كلّ واحدة منها بالصمت بين ومضتين. سأقرأ هذا لطلّابي غدًا.',
    likes: 388,
    to: 'lens',
  },
  {
    key: 'lens-3',
    by: 'faro',
    at: '2024-09-14T20:45:02Z',
    text: 'Pues dígales que las estrellas también suben 187 escalones.',
    likes: 176,
    to: 'lens-2',
  },
  {
    key: 'beam',
    by: 'faro',
    at: '2024-12-21T17:50:38Z',
    text: 'La noche más larga del año. La he grabado entera; aquí va un minuto.',
    likes: 842,
    media: [
      {
        kind: 'video',
        name: 'longest-night',
        size: [1920, 1080],
        seconds: 61.2,
        alt: 'Vista desde la barandilla del faro: los haces de luz giran sobre un mar negro y, al fondo, pasa muy despacio un carguero iluminado.',
      },
    ],
  },
  {
    key: 'storm-1',
    by: 'faro',
    at: '2025-01-27T21:03:11Z',
    text: 'Temporal. Viento del noroeste, 61 nudos en la galería. La puerta de abajo ya no se abre y la de arriba ya no se cierra. Iré contando mientras aguante la batería. 🧵 #NocheDeTemporal',
    likes: 577,
  },
  {
    key: 'storm-2',
    by: 'faro',
    at: '2025-01-27T22:16:40Z',
    text: '22:15. Las olas pasan por encima del muro viejo. Se ha ido la luz del pueblo, así que esta noche soy la única bombilla en veinte millas. Responsabilidad y un poco de vanidad.',
    likes: 612,
    to: 'storm-1',
  },
  {
    key: 'storm-3',
    gone: 'deleted',
    by: 'faro',
    at: '2025-01-27T23:40:05Z',
    text: 'This post was deleted by its author.',
    to: 'storm-2',
  },
  {
    key: 'storm-4',
    by: 'faro',
    at: '2025-01-28T06:52:29Z',
    text: '06:50. Amanece. He borrado el mensaje de las once y pico: tenía miedo y se notaba demasiado. Resumen: faltan dos tejas, una barandilla y la antena; sobran un cangrejo en la cocina y mucho café. La lámpara no falló ni una vuelta. #NocheDeTemporal',
    likes: 1466,
    to: 'storm-3',
    media: [
      {
        kind: 'photo',
        name: 'crab-in-kitchen',
        size: [1200, 1200],
        alt: 'Un cangrejo pequeño en el suelo de baldosas de una cocina, con las pinzas en alto, frente a un gato gris que finge no verlo.',
      },
    ],
  },
  {
    key: 'storm-5',
    by: 'eleni',
    at: '2025-01-28T07:21:08Z',
    text: 'Όποιος ήταν έξω χθες βράδυ μετρούσε τα δευτερόλεπτά σου. Ευχαριστούμε.',
    likes: 344,
    to: 'storm-4',
  },
  {
    key: 'storm-6',
    by: 'ada',
    at: '2025-01-28T07:40:51Z',
    text: 'Being afraid and staying is the whole job, isn’t it? Name the crab, please.',
    likes: 290,
    to: 'storm-4',
  },
  {
    key: 'storm-7',
    by: 'faro',
    at: '2025-01-28T08:05:17Z',
    text: 'Se llama Barandilla. Ha venido en sustitución.',
    likes: 803,
    to: 'storm-6',
  },
  {
    key: 'fog-day',
    by: 'faro',
    at: '2026-03-11T11:33:44Z',
    text: 'Niebla. No veo el mar, no veo el pueblo, no veo el final de esta frase pero confío en que',
    likes: 1210,
  },
];
