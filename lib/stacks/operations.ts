import type { CallyticsStack } from './callytics-stack.ts';
import { addDashboard } from './dashboard.ts';
import type { LeadTrackingStack } from './leadtracking-stack.ts';
import { addSavedQueries } from './saved-queries.ts';

/** What spans both stacks of a stage: alarms to one dispatcher, one dashboard, the saved queries. */
export function addOperations(leads: LeadTrackingStack, calls: CallyticsStack): void {
  leads.addStackDependency(calls, 'its events need their rule, and its alarm topics their dispatcher');
  for (const stack of [leads, calls]) {
    calls.dispatch.receiveFrom(stack);
    addSavedQueries(stack);
  }
  addDashboard(leads, calls);
}
