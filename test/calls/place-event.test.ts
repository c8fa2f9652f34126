import { describe, expect, it } from 'vitest';
import { placeEvent } from '../../src/calls/place-event.ts';
import { createStoreDirectory, StoresUnavailableError } from '../../src/leads/store-directory.ts';
import { FakeClock, recordingLog } from '../support/fakes.ts';
import { riversideStore } from '../support/leads.ts';
import { accountId, anEvent } from './events.ts';

const riverside = { ...riversideStore, phoneNumbers: ['(206) 555-0199', '+12065550198'] };
const harbor = {
  storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0777',
  leadEmail: 'harbor@leads.example',
  franchise: 'britishSwim-12',
  providerAccountId: accountId,
  phoneNumbers: ['+12065550200'] as unknown,
};
const elsewhere = {
  ...harbor,
  storeId: '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777',
  providerAccountId: '900999',
  phoneNumbers: ['+12065550300'] as unknown,
};

/** The store of a call to a number of ours, and how often StoresV2 was read for it. */
function stores(items: unknown[]) {
  const clock = new FakeClock();
  const scans = { count: 0 };
  const directory = createStoreDirectory(
    async () => {
      scans.count += 1;
      return [...items];
    },
    clock,
    recordingLog(),
  );
  const storeOf = async (phoneNumber: string | undefined, account = accountId) => {
    const event = anEvent({ party: { to: { phoneNumber, extensionId: '900204' } } });
    const placed = await placeEvent(directory, account, event);
    return placed?.parties[0]?.store;
  };
  return { storeOf, scans, clock, items };
}

const isRiverside = { storeId: riverside.storeId, franchiseId: 'orangeTheory' };
const isHarbor = { storeId: harbor.storeId, franchiseId: 'britishSwim' };

it('R36 an event that tells of a fax alone is no call', async () => {
  const directory = createStoreDirectory(async () => [riverside], new FakeClock(), recordingLog());
  expect(await placeEvent(directory, accountId, anEvent({ code: 'FaxReceive' }))).toBeUndefined();
});

describe('the store of a call', () => {
  it('R26 is the one that lists our number, however either is written', async () => {
    const { storeOf } = stores([riverside, harbor]);
    expect(await storeOf('+12065550199')).toEqual(isRiverside);
    expect(await storeOf('2065550198')).toEqual(isRiverside);
    expect(await storeOf('1 (206) 555-0200')).toEqual(isHarbor);
  });

  it('is the account`s only store when no store lists the number', async () => {
    const { storeOf } = stores([riverside, elsewhere]);
    expect(await storeOf('+12065550777')).toEqual(isRiverside);
    expect(await storeOf(undefined)).toEqual(isRiverside);
  });

  it('is none when the account has several, or none, and no store lists the number', async () => {
    const { storeOf } = stores([riverside, harbor]);
    expect(await storeOf('+12065550777')).toBeUndefined();
    expect(await storeOf(undefined)).toBeUndefined();
    expect(await storeOf('+12065550777', '900555')).toBeUndefined();
  });

  it('is the account`s own when two list the number', async () => {
    const shared = { ...elsewhere, phoneNumbers: ['+12065550200'] };
    expect(await stores([shared, harbor]).storeOf('+12065550200')).toEqual(isHarbor);
    expect(await stores([shared, riverside]).storeOf('+12065550200')).toMatchObject({
      storeId: shared.storeId,
    });
  });

  it.each([
    ['a set', new Set(['+12065550200'])],
    ['one text', '206-555-0200'],
    ['a number', [12065550200]],
    ['beside nonsense', [null, 'tbd', { a: 1 }, '+12065550200']],
  ])('is found by numbers typed as %s', async (_, phoneNumbers) => {
    const { storeOf } = stores([riverside, { ...harbor, phoneNumbers }]);
    expect(await storeOf('+12065550200')).toEqual(isHarbor);
  });

  it('may be a store that was just added: a number that nobody lists is looked for once more', async () => {
    const { storeOf, items, clock, scans } = stores([riverside]);
    expect(await storeOf('+12065550200')).toEqual(isRiverside);
    items.push(harbor);
    clock.advance(61_000);
    expect(await storeOf('+12065550200')).toEqual(isHarbor);
    await storeOf('+12065550777');
    expect(scans.count).toBe(2);
  });

  it('is unknown, not none, while StoresV2 cannot be read', async () => {
    const directory = createStoreDirectory(
      () => Promise.reject(new Error('DynamoDB down')),
      new FakeClock(),
      recordingLog(),
    );
    await expect(placeEvent(directory, accountId, anEvent())).rejects.toThrow(StoresUnavailableError);
  });
});
