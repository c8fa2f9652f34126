import { describe, expect, it } from 'vitest';
import { parseBrandFromFranchise } from '../../src/leads/store.ts';
import { createStoreDirectory, StoresUnavailableError } from '../../src/leads/store-directory.ts';
import type { Recipient } from '../../src/mail/parsed-mail.ts';
import { FakeClock, recordingLog } from '../support/fakes.ts';

const riverside = {
  storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412',
  leadEmail: 'Riverside@leads.example',
  franchise: 'orangeTheory-0412',
  providerAccountId: '900412',
  trackingId: 'OTF0412',
};
const harbor = {
  storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0777',
  leadEmail: 'harbor@leads.example',
  franchise: 'orangeTheory-0777',
  providerAccountId: '900777',
  trackingId: 'OTF0777',
};
const to = (address: string, trackingId?: string): Recipient => ({
  source: 'to',
  address,
  ...(trackingId ? { trackingId } : {}),
});

function directoryOver(items: unknown[]) {
  const clock = new FakeClock();
  const log = recordingLog();
  const scans = { count: 0, fail: false };
  const directory = createStoreDirectory(
    async () => {
      scans.count += 1;
      if (scans.fail) throw new Error('DynamoDB down');
      return [...items];
    },
    clock,
    log,
  );
  return { directory, clock, log, scans, items };
}

describe('store look-up', () => {
  it('M42 finds the store by lead e-mail, whatever its case, before the tag', async () => {
    const { directory } = directoryOver([riverside, harbor]);
    const match = await directory.findByRecipients([to('riverside@leads.example', 'OTF0777')]);
    expect(match?.store.storeId).toBe(riverside.storeId);
  });

  it('M42 finds the store by the tag, whatever its case', async () => {
    const { directory } = directoryOver([riverside, harbor]);
    const match = await directory.findByRecipients([to('lead-tracking+otf0777@leads.example', 'otf0777')]);
    expect(match?.store.storeId).toBe(harbor.storeId);
  });

  it('M42 takes the first hit in header order and tells of a second store in the same header only', async () => {
    const { directory } = directoryOver([riverside, harbor]);
    const tagged = (id: string, source: Recipient['source']): Recipient => ({
      source,
      address: `lead-tracking+${id.toLowerCase()}@leads.example`,
      trackingId: id,
    });
    const acrossHeaders = await directory.findByRecipients([
      tagged('OTF0412', 'delivered-to'),
      tagged('OTF0777', 'to'),
    ]);
    expect(acrossHeaders).toMatchObject({ store: { storeId: riverside.storeId }, ambiguous: false });
    const inOneHeader = await directory.findByRecipients([tagged('OTF0777', 'to'), tagged('OTF0412', 'to')]);
    expect(inOneHeader).toMatchObject({ store: { storeId: harbor.storeId }, ambiguous: true });
    const sameStoreTwice = await directory.findByRecipients([
      tagged('OTF0777', 'to'),
      to('harbor@leads.example'),
    ]);
    expect(sameStoreTwice).toMatchObject({ store: { storeId: harbor.storeId }, ambiguous: false });
  });

  it('scans once while warm, again after fifteen minutes, and on a miss once the cache is a minute old', async () => {
    const { directory, clock, scans, items } = directoryOver([riverside]);
    await directory.findById(riverside.storeId);
    await directory.findById(riverside.storeId);
    expect(scans.count).toBe(1);
    expect(await directory.findById(harbor.storeId)).toBeUndefined();
    expect(scans.count).toBe(1);
    items.push(harbor);
    clock.advance(61_000);
    expect((await directory.findById(harbor.storeId))?.storeId).toBe(harbor.storeId);
    expect(scans.count).toBe(2);
    clock.advance(15 * 60_000);
    await directory.findById(riverside.storeId);
    expect(scans.count).toBe(3);
  });

  it('finds by any rule, with the same second look on a miss', async () => {
    const { directory, clock, items } = directoryOver([riverside]);
    const findHarbor = () =>
      directory.find((stores) => stores.find(({ franchise }) => franchise === 'orangeTheory-0777'));
    expect(await findHarbor()).toBeUndefined();
    items.push(harbor);
    expect(await findHarbor()).toBeUndefined();
    clock.advance(61_000);
    expect((await findHarbor())?.storeId).toBe(harbor.storeId);
  });

  it('never takes a failed scan for a miss: stale cache, else a rejection', async () => {
    const cold = directoryOver([riverside]);
    cold.scans.fail = true;
    await expect(cold.directory.findByRecipients([to('riverside@leads.example')])).rejects.toThrow(
      StoresUnavailableError,
    );
    cold.scans.fail = false;
    expect(await cold.directory.findById(riverside.storeId)).toBeDefined();
    cold.scans.fail = true;
    cold.clock.advance(16 * 60_000);
    expect(await cold.directory.findById(riverside.storeId)).toBeDefined();
    expect(cold.log.lines.map(({ event }) => event)).toContain('stores.stale');
  });

  it('leaves a broken item out, names its field and keeps the others', async () => {
    const { directory, log } = directoryOver([{ storeId: riverside.storeId, franchise: 'x' }, harbor]);
    expect(await directory.findById(harbor.storeId)).toBeDefined();
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        fields: { store_id: riverside.storeId, fields: ['leadEmail', 'providerAccountId'] },
      }),
    );
  });
});

it.each([
  ['orangeTheory-0421', 'orangeTheory'],
  ['orangeTheory_0421', 'orangeTheory'],
  ['Orange Theory #0412', 'Orange Theory'],
  ['britishSwim-12', 'britishSwim'],
  ['orangeTheory-NY12', 'orangeTheory'],
  ['British Swim School', 'British Swim School'],
  ['Snap-Fitness', 'Snap-Fitness'],
  ['F45', 'F45'],
  ['9Round-7', '9Round'],
  ['  orangeTheory - 0421 ', 'orangeTheory'],
])('the brand of %s is %s', (franchise, brand) => {
  expect(parseBrandFromFranchise(franchise)).toBe(brand);
});
