import type { Construct } from 'constructs';
import { regions } from '../config.ts';
import { StageStack, type StageStackProps } from '../constructs/stage-stack.ts';
import { LeadProcessing } from './lead-processing.ts';

/** us-west-2: what becomes of leads and calls. */
export class CallyticsStack extends StageStack {
  constructor(scope: Construct, props: StageStackProps) {
    super(scope, 'Callytics', regions.calls, props);
    new LeadProcessing(this, 'Leads');
  }
}
