import { Stack } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';
import type { HandlerDirectories } from '../bundle.ts';
import type { StageConfig } from '../config.ts';
import { physicalName } from '../names.ts';
import { Alarms } from './alarms.ts';

export interface StageStackProps {
  readonly config: StageConfig;
  readonly handlers: HandlerDirectories;
}

/** A stack of one stage: what every construct in it needs to know of the stage, and its alarms. */
export class StageStack extends Stack {
  readonly config: StageConfig;
  readonly handlers: HandlerDirectories;
  readonly alarms: Alarms;

  constructor(scope: Construct, id: string, region: string, { config, handlers }: StageStackProps) {
    const account = config.account ?? process.env.CDK_DEFAULT_ACCOUNT;
    super(scope, id, {
      env: { region, ...(account ? { account } : {}) },
      terminationProtection: config.keepData,
      tags: { Application: 'callytics', Stage: config.name },
    });
    this.config = config;
    this.handlers = handlers;
    this.alarms = new Alarms(this, 'Alarms', config);
  }

  /** The physical name of a resource in this stage and region. */
  named(base: string): string {
    return physicalName(base, this.config.name, this.region);
  }

  /** The stage stack around a construct. */
  static override of(construct: IConstruct): StageStack {
    const stack = Stack.of(construct);
    if (!(stack instanceof StageStack)) throw new Error(`${construct.node.path} is not in a StageStack`);
    return stack;
  }
}
