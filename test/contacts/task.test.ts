import { describe, expect, it } from 'vitest';
import { buildLeadTask } from '../../src/contacts/task.ts';
import { aNewLead } from './new-lead.ts';

const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };
const now = new Date('2026-11-03T09:16:00-05:00');

describe('buildLeadTask', () => {
  it('asks the staff to call back within five minutes', () => {
    const { taskId, suggestedActions, ...task } = buildLeadTask(aNewLead(), now, hours);
    expect(task).toEqual({
      contactPhone: '+12125550147',
      franchiseId: 'orangeTheory',
      accountId: '900412',
      storeId: aNewLead().storeId,
      taskType: 'lead_outreach',
      typeCategory: 'lead_outreach',
      sourceType: 'lead',
      sourceLeadId: 'ana@x.example#+12125550147#2026-11-03',
      status: 'pending',
      priority: 'high',
      actionNeeded: true,
      actionNeededReason: 'New Web Lead from Ana Lopez',
      dueAt: new Date('2026-11-03T09:21:00-05:00'),
    });
    expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
    expect(suggestedActions).toEqual([
      { action: 'call_back', priority: 'high', text: expect.stringMatching(/back.*5-minute golden window/) },
    ]);
  });

  it.each([
    ['Ana', null, 'New Web Lead from Ana'],
    [null, 'Lopez', 'New Web Lead from unknown Lopez'],
    [null, null, 'New Web Lead from unknown'],
    ['', '', 'New Web Lead from unknown'],
  ])('M53 names as far as they are known: %j %j', (firstName, lastName, reason) => {
    expect(buildLeadTask(aNewLead({ firstName, lastName }), now, hours).actionNeededReason).toBe(reason);
  });

  it("waits for the store's morning", () => {
    const losAngeles = { ...hours, timeZone: 'America/Los_Angeles' };
    const evening = new Date('2026-11-03T20:57:00-08:00');
    expect(buildLeadTask(aNewLead(), evening, losAngeles).dueAt).toEqual(
      new Date('2026-11-04T08:02:00-08:00'),
    );
  });
});
