/** Messages of polite or talkative people around a question, which should be answered like the question alone. */
export const wrappings: readonly ((question: string) => string)[] = [
  (question) => `Hi, I am new here. ${question} Thanks!`,
  (question) =>
    `Dear team,\n\nI hope you are doing well. ${question}\n\nKind regards,\nAnna Kowalczyk`,
  (question) =>
    `Hello everyone! I have been struggling with this for two hours now and my boss is getting impatient. ${question} Any help would be greatly appreciated.`,
  (question) => `Sorry if this is a dumb question, but ${question}`,
  (question) => `quick question: ${question} pls`,
  (question) =>
    `Good morning from Berlin! I was wondering: ${question} Thank you so much in advance :)`,
  (question) =>
    `I installed it yesterday on my MacBook Pro and like it a lot. ${question} Cheers, Tom`,
  (question) => `hey there! ${question} thx`,
  (question) => `Please help. ${question}`,
  (question) =>
    `${question}\n\nI searched the whole documentation but could not find anything about it. Could somebody point me in the right direction?`,
  (question) => `${question} Have a nice day!`,
  (question) =>
    `I'm a student from Portugal working on my thesis. ${question} Sorry for my bad English.`,
];
