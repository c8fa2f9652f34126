import { and, eq, inArray } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { tasks } from '../db/schema/index.ts';

/** Numbers that the North American plan keeps for fiction: nobody's telephone rings. */
const fictionalPhones = Array.from({ length: 100 }, (_, index) => `+12125550${100 + index}`);

export interface SmokeMail {
  source: Buffer;
  messageId: string;
  email: string;
}

/**
 * A web lead of an invented person, marked as what it is.
 *
 * @param id unique to this run: Message-ID and e-mail address are made of it
 * @param phone E.164
 */
export function buildSmokeMail({
  id,
  stage,
  to,
  phone,
  now,
}: {
  id: string;
  stage: string;
  to: string;
  phone: string;
  now: Date;
}): SmokeMail {
  const messageId = `<smoke-${id}@callytics.example>`;
  const email = `smoke-${id}@callytics.example`;
  const lines = [
    'From: Callytics smoke test <smoke-test@callytics.example>',
    `To: ${to}`,
    `Message-ID: ${messageId}`,
    `Subject: Web Lead - Smoke Test (stage ${stage}, please ignore)`,
    `Date: ${now.toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'First Name: Smoke',
    'Last Name: Test',
    `Phone: ${phone}`,
    `Email: ${email}`,
    '',
  ];
  return { source: Buffer.from(lines.join('\r\n')), messageId, email };
}

/**
 * A number whose contact has no pending call-back in this store, since a second lead of one contact gets no task.
 *
 * @throws Error when a hundred smoke tests were never cleaned up
 */
export async function chooseFreePhone(db: Database, storeId: string): Promise<string> {
  const rows = await db
    .select({ phone: tasks.contactPhone })
    .from(tasks)
    .where(
      and(
        eq(tasks.storeId, storeId),
        eq(tasks.status, 'pending'),
        inArray(tasks.contactPhone, fictionalPhones),
      ),
    );
  const taken = new Set(rows.map(({ phone }) => phone));
  const free = fictionalPhones.filter((phone) => !taken.has(phone));
  const phone = free[Math.floor(Math.random() * free.length)];
  if (!phone)
    throw new Error(`All smoke test contacts of store ${storeId} have pending tasks: remove them first`);
  return phone;
}
