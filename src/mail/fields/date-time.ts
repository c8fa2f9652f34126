const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const monthName =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const yearFirst = /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/;
/** United States order: month, day, year. */
const monthFirst = /(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)/;
const namedMonthFirst = new RegExp(
  `\\b${monthName}\\.?[\\s-]+(\\d{1,2})(?:st|nd|rd|th)?[\\s,-]+(\\d{4})(?!\\d)`,
  'i',
);
const namedDayFirst = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th)?[\\s-]+(?:of\\s+)?${monthName}\\.?[\\s,-]+(\\d{4})(?!\\d)`,
  'i',
);
/** UTC to the minute: without the store's zone neither its local date nor time is known. */
const utcInstant = /\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?Z\b/;

/** The first calendar date in `value` as 'YYYY-MM-DD'; `undefined` without a year or when it doesn't exist. */
export function readDate(value: string): string | undefined {
  const text = value.slice(0, 200);
  if (utcInstant.test(text)) return undefined;
  const iso = yearFirst.exec(text);
  if (iso) return calendarDate(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const named = namedMonthFirst.exec(text);
  if (named) return calendarDate(Number(named[3]), monthOf(named[1]), Number(named[2]));
  const dayFirst = namedDayFirst.exec(text);
  if (dayFirst) return calendarDate(Number(dayFirst[3]), monthOf(dayFirst[2]), Number(dayFirst[1]));
  const numeric = monthFirst.exec(text);
  if (!numeric) return undefined;
  const year = Number(numeric[3]);
  return calendarDate(year < 100 ? 2000 + year : year, Number(numeric[1]), Number(numeric[2]));
}

function monthOf(name = ''): number {
  return months.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

function calendarDate(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 2000 && year < 2100;
  return exists ? date.toISOString().slice(0, 10) : undefined;
}

const clockTime = String.raw`(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?`;
/** The start needs minutes, or the whole value is the range: `Nov 7 - 9:15 AM` is none. */
const rangeWithMeridiem = new RegExp(
  String.raw`(?:^\s*(?=\d{1,2}\s*[-–—])|(?<![\d:.,/-])(?=\d{1,2}[:.]\d))${clockTime}\s*(?:-|–|—|to|until)\s*${clockTime}\s*([ap])\.?\s?m\b`,
  'i',
);
const withMeridiem = new RegExp(String.raw`(?<![\d:.])${clockTime}\s*([ap])\.?\s?m\b`, 'i');
const twentyFourHours = /(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:])/;

/** The first time of day in `value` as 'HH:mm' (24 hours); of a range its start. */
export function readTime(value: string): string | undefined {
  const text = value.slice(0, 200);
  if (utcInstant.test(text)) return undefined;
  const range = rangeWithMeridiem.exec(text);
  if (range) return startOfRange(range);
  const twelve = withMeridiem.exec(text);
  if (twelve) return timeOfDay(hourOf(Number(twelve[1]), twelve[3]), Number(twelve[2] ?? 0));
  const plain = twentyFourHours.exec(text);
  return plain ? timeOfDay(Number(plain[1]), Number(plain[2])) : undefined;
}

/** `1:00 - 3:00 PM` starts in the afternoon, `11:30 - 12:30 PM` in the morning. */
function startOfRange([, hour, minute = '0', endHour, endMinute = '0', half]: RegExpExecArray):
  | string
  | undefined {
  const end = hourOf(Number(endHour), half) * 60 + Number(endMinute);
  const sameHalf = hourOf(Number(hour), half);
  const start = sameHalf * 60 + Number(minute) < end ? sameHalf : hourOf(Number(hour), 'a');
  return timeOfDay(start, Number(minute));
}

function hourOf(hour: number, half = ''): number {
  if (hour > 12) return Number.NaN;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function timeOfDay(hour: number, minute: number): string | undefined {
  if (!(hour >= 0 && hour < 24 && minute < 60)) return undefined;
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
