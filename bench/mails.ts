/**
 * Mails as lead boxes hold them, made from a number: no two are of one person, and a run can be repeated byte
 * for byte. Of ten, seven are leads of different layouts, one is a forward, one a newsletter, one an automatic
 * answer.
 */
export function benchMail(index: number): Buffer {
  const layout = layouts[index % layouts.length] ?? webLead;
  const { headers, body } = layout(person(index));
  const lines = [
    ...transportHeaders(index),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${body}`.replaceAll('\n', '\r\n'));
}

interface Person {
  index: number;
  first: string;
  last: string;
  email: string;
  phone: string;
  recipient: string;
}

interface Layout {
  headers: Record<string, string>;
  body: string;
}

const firstNames = ['Ana', 'Bo', 'Carla', 'Dan', 'Eve', 'Finn', 'Gina'];
const lastNames = ['Lopez', 'Yates', 'Stone', 'Marsh', 'Quinn'];
const recipients = [
  'lead-tracking+OTF0412@leads.example',
  'lead-tracking+OTF0777@leads.example',
  'swim@leads.example',
];
/** New York's and its neighbours': valid, and enough of them for 80,000 different numbers. */
const areaCodes = ['212', '646', '718', '917', '347', '201', '203', '914'];

function person(index: number): Person {
  const first = pick(firstNames, index);
  const line = String(index % 10_000).padStart(4, '0');
  return {
    index,
    first,
    last: pick(lastNames, index),
    email: `${first.toLowerCase()}.${index}@x.example`,
    phone: `(${pick(areaCodes, Math.floor(index / 10_000))}) 555-${line}`,
    recipient: pick(recipients, index),
  };
}

function pick(list: readonly string[], index: number): string {
  return list[index % list.length] ?? '';
}

/** What relays put on top of a mail: more bytes than most leads have themselves. */
function transportHeaders(index: number): string[] {
  const signature = Array.from(
    { length: 5 },
    (_, line) => `\t${'Zm9ybXMuZXhhbXBsZQ'.repeat(4)}${index}${line}`,
  );
  return [
    ...[3, 2, 1].map(
      (hop) =>
        `Received: from relay${hop}.forms.example (relay${hop}.forms.example [192.0.2.${hop}])\n\tby mx${hop}.leads.example with ESMTPS id q${index}h${hop}\n\t(version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384 bits=256/256);\n\tTue, 03 Nov 2026 14:1${hop}:00 +0000`,
    ),
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=forms.example; s=s1;\n\th=from:to:subject:date:message-id; bh=${'a'.repeat(43)}=;\n\tb=${signature.join('\n')}`,
    'Authentication-Results: mx1.leads.example; dkim=pass header.d=forms.example; spf=pass',
    `Message-ID: <bench-${index}@forms.example>`,
    'Date: Tue, 3 Nov 2026 09:15:00 -0500',
    'MIME-Version: 1.0',
  ];
}

const text = { 'Content-Type': 'text/plain; charset=utf-8' };
const html = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Transfer-Encoding': 'base64' };

function webLead({ first, last, email, phone, recipient }: Person): Layout {
  return {
    headers: {
      From: 'web@forms.example',
      To: recipient,
      Subject: `Web Lead - ${first} ${last} - Riverside`,
      ...text,
    },
    body: `First Name: ${first}\nLast Name: ${last}\nPhone: ${phone}\nEmail: ${email}\nStudio: Riverside #0412\nSource: Website\n`,
  };
}

function introBooking(one: Person): Layout {
  const { headers, body } = webLead(one);
  return {
    headers: { ...headers, Subject: `Online Intro - ${one.first} ${one.last} - Riverside` },
    body: `${body}Class: Orange 60\nClass Date: 11-07-2026\nClass Time: 9:15 AM\nCoach: TBD\n`,
  };
}

function calendly({ first, last, email, phone, recipient }: Person): Layout {
  const plain = `Hi Riverside,\n\nA new event has been scheduled.\n\nEvent Type:\nFree Intro Class\n\nInvitee:\n${first} ${last}\n\nInvitee Email:\n${email}\n\nText Reminder Number:\n${phone}\n\nEvent Date/Time:\n09:15am - Saturday, November 7, 2026 (Eastern Time - US & Canada)\n\nInvitee Time Zone:\nEastern Time - US & Canada\n\nView event in Calendly\n`;
  const marked = plain
    .split('\n\n')
    .map((block) => `<p style="${style}"><strong>${block.replace(/:\n/, ':</strong><br>')}</p>`)
    .join('\n');
  return {
    headers: {
      From: 'Calendly <notifications@calendly.com>',
      To: recipient,
      Subject: `New Event: ${first} ${last} - 09:15am Sat, Nov 7, 2026 - Free Intro Class`,
      'Content-Type': 'multipart/alternative; boundary=b1',
    },
    body: `--b1\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n${quotedPrintable(plain)}\n--b1\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n${quotedPrintable(page(marked))}\n--b1--\n`,
  };
}

function siteForm({ first, last, email, phone, recipient }: Person): Layout {
  return {
    headers: {
      From: 'wordpress@gym.example',
      To: recipient,
      'Reply-To': email,
      Subject: 'New message from "Riverside"',
      ...text,
    },
    body: `Name: ${first} ${last}\nEmail: ${email}\nPhone: ${phone}\nMessage: Is there a class on Sunday morning?\n\n---\n\nDate: November 3, 2026\nTime: 9:15 am\nPage URL: https://gym.example/contact/\nUser Agent: Mozilla/5.0\nRemote IP: 192.0.2.7\nPowered by: Elementor\n`,
  };
}

function adf({ index, first, last, email, phone, recipient }: Person): Layout {
  return {
    headers: { From: 'leads@adnet.example', To: recipient, Subject: 'ADF Lead', ...text },
    body: `<?xml version="1.0"?><?adf version="1.0"?>\n<adf><prospect><id sequence="1" source="adnet">${index}</id><requestdate>2026-11-03T09:15:00-05:00</requestdate>\n<customer><contact><name part="first">${first}</name><name part="last">${last}</name><email>${email}</email><phone type="mobile">${phone}</phone></contact><comments>Free class?</comments></customer>\n<vendor><vendorname>Gym</vendorname><contact><name part="full">Gym Riverside</name><email>riverside@gym.example</email><phone>212-555-0100</phone></contact></vendor></prospect></adf>\n`,
  };
}

function htmlTable({ first, last, email, phone, recipient }: Person): Layout {
  const fields = {
    'First Name': first,
    'Last Name': last,
    Email: email,
    Phone: phone,
    Interest: 'Trial class',
  };
  const rows = Object.entries(fields).map(
    ([label, value]) =>
      `<tr><td style="${style}"><b>${label}</b></td><td style="${style}">${value}</td></tr>`,
  );
  return {
    headers: { From: 'form@site.example', To: recipient, Subject: 'New form submission', ...html },
    body: base64(page(`<table>${rows.join('\n')}</table>${footer}`)),
  };
}

function swimSchool({ first, last, email, phone }: Person): Layout {
  const fields = [
    ['Location Email', 'riverside@swim.example'],
    ['Franchise Code', '12'],
    ['Location Code', '3'],
    ['Class ID', '99'],
    ['Parent Name', `${first} ${last}`],
    ['Email', email],
    ['Phone', phone],
    ['UTM Source', 'google'],
  ];
  return {
    headers: { From: 'crm@swim.example', To: 'swim@leads.example', Subject: 'New enrollment', ...text },
    body: fields.map(([label, value]) => `${label}\n${value}\n`).join('\n'),
  };
}

function forwarded(one: Person): Layout {
  const { headers, body } = webLead(one);
  return {
    headers: { ...headers, From: 'staff@gym.example', Subject: `Fwd: ${headers.Subject}` },
    body: `Please call!\n\n---------- Forwarded message ---------\nFrom: Web <web@forms.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: ${headers.Subject}\nTo: <${one.recipient}>\n\n\n${body}`,
  };
}

function newsletter({ recipient }: Person): Layout {
  const story = `<p style="${style}">Ten ideas for a healthy autumn, and what our members say about them.</p>`;
  return {
    headers: { From: 'news@magazine.example', To: recipient, Subject: 'Your weekly magazine', ...html },
    body: base64(page(`${story.repeat(60)}${footer}`)),
  };
}

function automaticAnswer({ email, recipient }: Person): Layout {
  return {
    headers: {
      From: email,
      To: recipient,
      Subject: 'Automatic reply: Your class',
      'Auto-Submitted': 'auto-replied',
      ...text,
    },
    body: 'I am away until Monday.\n',
  };
}

const layouts = [
  ...[webLead, introBooking, calendly, siteForm, adf],
  ...[htmlTable, swimSchool, forwarded, newsletter, automaticAnswer],
];

const style = 'margin:0;padding:8px 12px;font-family:Arial,Helvetica,sans-serif;font-size:14px;color:#333333';
const footer = `<table width="100%"><tr><td style="${style}">You get this mail since your site has a form.<br><a href="https://site.example/settings">Settings</a></td></tr></table>`;

function page(content: string): string {
  const rules = Array.from({ length: 40 }, (_, rule) => `.c${rule}{${style}}`).join('\n');
  return `<!doctype html><html><head><meta charset="utf-8"><style>${rules}</style></head><body>${content}</body></html>`;
}

function base64(content: string): string {
  return Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n');
}

function quotedPrintable(content: string): string {
  return content.replaceAll('=', '=3D').replace(/[^\n]{72}(?=[^\n])/g, soften);
}

/** A soft line break, not within an escape. */
function soften(line: string): string {
  const cut = /=.?$/.exec(line)?.index ?? line.length;
  return `${line.slice(0, cut)}=\n${line.slice(cut)}`;
}
