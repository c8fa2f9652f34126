/** What one of two people says. `{PII}` marks in braces what redaction takes out, as `{NAME:Ana}`. */
export interface Utterance {
  speaker: 0 | 1;
  text: string;
}

const conversations: readonly (readonly Utterance[])[] = [
  [
    { speaker: 0, text: 'Thank you for calling, how can I help you?' },
    { speaker: 1, text: 'Hi, this is {NAME:Ana Lopez}. I would like to book an intro class.' },
    { speaker: 0, text: 'Of course. Does Thursday at six work for you?' },
    { speaker: 1, text: 'Yes, that works. You can reach me at {PHONE:415 555 0123}.' },
  ],
  [
    { speaker: 0, text: 'Good afternoon, front desk speaking.' },
    { speaker: 1, text: 'Hello, what does a membership cost?' },
    { speaker: 0, text: 'It depends on how often you train. May I send you the prices?' },
    { speaker: 1, text: 'Please do, to {EMAIL:bo@mail.example}.' },
  ],
  [
    { speaker: 0, text: 'Hello, you have reached the swim school.' },
    { speaker: 1, text: 'My daughter is four. Do you have a lesson on Saturdays?' },
    { speaker: 0, text: 'We do, at ten. What is her name?' },
    { speaker: 1, text: 'Her name is {NAME:Mia}.' },
  ],
];

/** What is said in a recording: nobody listens to it, so its name decides, always in the same way. */
export function speechIn(mediaKey: string): readonly Utterance[] {
  const name = mediaKey.split('/').at(-1) ?? '';
  const sum = [...name].reduce(
    (hash, character) => (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521,
    7,
  );
  return conversations[sum % conversations.length] ?? [];
}
