import type { NewLead } from '../../src/contacts/new-lead.ts';
import { riversideStore } from '../support/leads.ts';

/** The event of Ana Lopez's first mail; every field can be overridden. */
export function aNewLead(overrides: Partial<NewLead> = {}): NewLead {
  return {
    id: 'ana@x.example#+12125550147#2026-11-03',
    leadType: 'Web Lead',
    firstName: 'Ana',
    lastName: 'Lopez',
    phone: '+12125550147',
    franchiseId: 'orangeTheory',
    accountId: '900412',
    storeId: riversideStore.storeId,
    receivedAt: new Date('2026-11-03T14:15:00.000Z'),
    mailKey: 'a'.repeat(64),
    mailReceivedAt: new Date('2026-11-03T14:15:00.000Z'),
    repeat: false,
    ...overrides,
  };
}
