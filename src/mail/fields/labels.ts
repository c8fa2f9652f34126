/**
 * What a label asks for. `booking` may hold date and time; `foreign` speaks of the studio, its staff or a
 * third person; `other` is known, so that it ends the value before it.
 */
export type LabelKind =
  | 'firstName'
  | 'lastName'
  | 'fullName'
  | 'email'
  | 'phone'
  | 'bookingDate'
  | 'bookingTime'
  | 'booking'
  | 'plainDate'
  | 'plainTime'
  | 'leadType'
  | 'leadTypeHint'
  | 'source'
  | 'status'
  | 'message'
  | 'foreign'
  | 'other';

export interface Label {
  kind: LabelKind;
  /** Normalised: 'First_Name *' and 'firstName' are one. */
  key: string;
  /** Speaks of a student or child: the lead is the adult, where one is named. */
  dependant: boolean;
  /** Says whose it is: `Customer Phone` is the lead's wherever it stands, `Phone` may be a footer's. */
  explicit: boolean;
}

const words = (text: string) => new Set(text.trim().split(/\s+/));

const foreign = words(`
  studio location store club gym franchise franchisee vendor vendorname dealer dealership provider support
  helpdesk helpline hotline help desk office company business organization organisation employer coach trainer
  instructor teacher agent assigned owner manager host organizer organiser staff employee friend friends
  referrer referral referred referring emergency sender center centre school facility clinic team platform
  account rep representative sales salesperson advisor consultant page campaign form site website service
  services reception our fax pager partner spouse corporate headquarters branch affiliate publisher unsubscribe
  dial meeting zoom
`);

const person = words(`
  customer customers client clients member members lead leads prospect prospects guest invitee attendee contact
  applicant buyer caller visitor parent parents guardian guardians mother father mom dad adult registrant
  subscriber patient respondent requester person consumer booker
`);
const dependants = words(
  'student students child childs children swimmer swimmers camper athlete participant dependent kid kids minor son daughter pupil',
);
const filler = words(`
  your my the a an is what whats s of in full main best preferred personal home work day daytime evening please
  enter provide valid direct current new confirm verify and or at to reach you on for required optional legal
  complete primary back 1 2 one
`);

const phoneCore = words(
  'phone phones telephone tel mobile cell cellphone cellular whatsapp ph phonenumber handphone',
);
const phoneExtra = words(
  'number numbers no nr num sms text call callback reminder reminders digit digits alternate',
);
const numberPurpose = words('contact text sms call callback reach reminder reminders');
const emailCore = words('email emails emailaddress mail');
const emailExtra = words('address addresses id');
const bookingWords = words(`
  class intro appointment appt booking booked session event visit tour lesson trial consultation reservation
  workout start starts scheduled requested desired selected chosen slot free first assessment meeting evaluation
  arrival
`);

const leadTypes = new Set(
  'lead type|type of lead|leadtype|inquiry type|enquiry type|type of inquiry|event type'.split('|'),
);
const leadTypeHints = new Set(
  'type|request type|appointment type|booking type|class type|service|service type|offer|program|form|form name|campaign|interest|interested in|what'.split(
    '|',
  ),
);
const messages = new Set(
  'message|your message|message body|comments|comment|your comments|notes|note|questions|question|inquiry|enquiry|details|description|additional information|additional comments|special requests|anything else|how can we help|how can we help you'.split(
    '|',
  ),
);
const others = new Set(
  'address|street|street address|city|state|zip|zip code|postal code|country|age|gender|dob|birthday|url|page url|user agent|remote ip|ip|ip address|powered by|browser|consent|sms consent|status|priority|assigned to|utm source|utm medium|utm campaign|hubspot cookie|class id|lead id|id|franchise code|location code|time zone|timezone|invitee time zone|preferred contact method|subject|title|job title|middle name|suffix|budget|goals|goal|credits|credit|referrer|submitted|submitted on|date submitted|submission date|submission time|created|created at|cancellation policy|text reminder|view event|website'.split(
    '|',
  ),
);
const sourceLabel =
  /^(lead |inquiry |referral |marketing )?source$|^how did you (hear|find|learn)\b|^where did you hear\b/;

/** What Spanish and French forms ask for, in the words of this page. */
const translations = new Map(
  Object.entries({
    name: ['nombre', 'nombre y apellido', 'nombre y apellidos', 'nom complet', 'nom et prénom'],
    'full name': ['nombre completo'],
    'first name': ['prénom', 'prenom'],
    'last name': ['apellido', 'apellidos', 'nom', 'nom de famille'],
    phone: [
      'teléfono',
      'telefono',
      'número de teléfono',
      'celular',
      'móvil',
      'téléphone',
      'numéro de téléphone',
    ],
    email: ['correo', 'correo electrónico', 'correo electronico', 'courriel', 'adresse courriel'],
    message: ['mensaje', 'comentarios'],
  }).flatMap(([key, translated]) => translated.map((word) => [word, key] as const)),
);

const nameWords = words(
  'name names first last given family sur fore firstname lastname forename surname fname lname fullname givenname familyname',
);
const labelWords = [
  foreign,
  person,
  dependants,
  filler,
  phoneCore,
  phoneExtra,
  emailCore,
  emailExtra,
  bookingWords,
  nameWords,
  words('address city state zip code id date time street country hours url link details info information by'),
];

const cache = new Map<string, Label | null>();

/** What `raw` asks for, `undefined` if it is no label that we know. With or without colon. */
export function labelOf(raw: string): Label | undefined {
  if (raw.length > 80) return undefined;
  const known = cache.get(raw);
  if (known !== undefined) return known ?? undefined;
  const label = classify(normaliseLabel(raw)) ?? classify(normaliseLabel(raw.replace(/\([^)]*\)/g, ' ')));
  // The labels of forms are few; a flood of different ones must not fill a warm function's memory.
  if (cache.size > 5000) cache.clear();
  cache.set(raw, label ?? null);
  return label;
}

/** Lower case, words parted by one blank: `First_Name *`, `firstName` and `FIRST NAME:` are `first name`. */
export function normaliseLabel(raw: string): string {
  return raw
    .normalize('NFKC')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/#/g, ' number ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/\be mail\b/g, 'email')
    .replace(/\bwhats app\b/g, 'whatsapp')
    .replace(/\bcell phone\b/g, 'cellphone');
}

function classify(written: string): Label | undefined {
  const key = translations.get(written) ?? written;
  if (key === '') return undefined;
  const tokens = key.split(' ');
  if (tokens.length > 9) return undefined;
  const kind = kindOf(key, tokens);
  if (!kind) return undefined;
  const explicit = tokens.some((token) => person.has(token) && token !== 'contact');
  return { kind, key, dependant: tokens.some((token) => dependants.has(token)), explicit };
}

function kindOf(key: string, tokens: string[]): LabelKind | undefined {
  if (sourceLabel.test(key)) return 'source';
  if (leadTypes.has(key)) return 'leadType';
  if (leadTypeHints.has(key) || /^(prospect|customer|client|contact|member|guest) type$/.test(key))
    return 'leadTypeHint';
  if (key === 'who') return 'fullName';
  if (messages.has(key)) return 'message';
  if (/^((booking|appointment|event|class|reservation) )?status$/.test(key)) return 'status';
  if (others.has(key)) return 'other';
  if (tokens.some((token) => foreign.has(token))) return isForeignLabel(tokens) ? 'foreign' : undefined;
  return contactKind(tokens) ?? bookingKind(tokens);
}

/** A foreign word makes no label of a sentence ("call our studio today"): every other word must be a label's. */
function isForeignLabel(tokens: string[]): boolean {
  return tokens.every((token) => labelWords.some((set) => set.has(token)));
}

function contactKind(tokens: string[]): LabelKind | undefined {
  const only = (...sets: Set<string>[]) =>
    tokens.every(
      (token) =>
        filler.has(token) || person.has(token) || dependants.has(token) || sets.some((set) => set.has(token)),
    );
  const some = (set: Set<string>) => tokens.some((token) => set.has(token));
  if (some(phoneCore) && only(phoneCore, phoneExtra)) return 'phone';
  if (some(emailCore) && only(emailCore, emailExtra)) return 'email';
  if (
    tokens.join(' ') === 'number' ||
    (tokens.includes('number') && some(numberPurpose) && only(phoneExtra))
  ) {
    return 'phone';
  }
  if (only(nameWords)) return nameKind(tokens);
  return undefined;
}

function nameKind(tokens: string[]): LabelKind | undefined {
  const has = (...candidates: string[]) => candidates.some((candidate) => tokens.includes(candidate));
  const both = has('first', 'given', 'firstname') && has('last', 'family', 'lastname');
  if (both || has('names')) return 'fullName';
  if (has('firstname', 'forename', 'fname', 'givenname', 'first', 'given', 'fore')) {
    return has('first', 'given', 'fore') && !has('name') && tokens.length > 1 ? undefined : 'firstName';
  }
  if (has('lastname', 'surname', 'lname', 'familyname', 'last', 'family', 'sur')) {
    return has('last', 'family', 'sur') && !has('name') && tokens.length > 1 ? undefined : 'lastName';
  }
  if (has('name', 'fullname')) return 'fullName';
  const aboutPerson = tokens.some((token) => person.has(token) || dependants.has(token));
  return aboutPerson && tokens.length <= 3 ? 'fullName' : undefined;
}

function bookingKind(tokens: string[]): LabelKind | undefined {
  const date = tokens.some(
    (token) => token === 'date' || token === 'dates' || token === 'datetime' || token === 'day',
  );
  const time = tokens.some((token) => token === 'time' || token === 'times' || token === 'datetime');
  const when = tokens.includes('when');
  const rest = tokens.filter((token) => !/^(dates?|times?|datetime|day|when)$/.test(token));
  if (!rest.every((token) => bookingWords.has(token) || filler.has(token) || person.has(token)))
    return undefined;
  // "Best time to call" is a wish for a call, not a booking.
  if (rest.includes('reach') || rest.includes('contact') || rest.includes('to')) return undefined;
  if (when && rest.length === 0) return 'booking';
  const booked = rest.some((token) => bookingWords.has(token)) || rest.includes('preferred');
  if (!date && !time)
    return rest.some((token) => bookingWords.has(token)) && rest.length <= 2 ? 'booking' : undefined;
  if (!booked && rest.some((token) => person.has(token))) return undefined;
  if (!booked) return date && time ? 'booking' : date ? 'plainDate' : 'plainTime';
  return date && time ? 'booking' : date ? 'bookingDate' : 'bookingTime';
}
