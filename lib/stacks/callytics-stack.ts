import type { Construct } from 'constructs';
import { regions } from '../config.ts';
import { StageStack, type StageStackProps } from '../constructs/stage-stack.ts';
import { AlarmDispatch } from './alarm-dispatch.ts';
import { addCallAlarms } from './call-monitoring.ts';
import { CallProcessing } from './call-processing.ts';
import { LeadProcessing } from './lead-processing.ts';

/** us-west-2: what becomes of leads and calls, and who is told when it doesn't. */
export class CallyticsStack extends StageStack {
  readonly leads: LeadProcessing;
  readonly calls: CallProcessing;
  readonly dispatch: AlarmDispatch;

  constructor(scope: Construct, props: StageStackProps) {
    super(scope, 'Callytics', regions.calls, props);
    this.leads = new LeadProcessing(this, 'Leads');
    this.calls = new CallProcessing(this, 'Calls');
    addCallAlarms(this, this.calls);
    this.dispatch = new AlarmDispatch(this, 'AlarmDispatch');
  }
}
