import { UsageError } from './command-line.ts';

/** The settings of a stage that its operator's commands need. */
export interface StageSettings {
  name: string;
  imapParameter: string;
  neonUrlParameter: string;
  stores: { tableName: string; region: string };
  defaultTimeZone: string;
  quietHours: string;
  ringCentral: { parameterPrefix: string; accountIds: readonly string[] };
}

/** What the CDK app knows of its stages: handed in, since product code doesn't import the app. */
export interface Deployment {
  stages: readonly StageSettings[];
  /** `leads`: mailbox, poller and bus. `calls`: lead processor and calls. */
  regions: Readonly<Record<Side, string>>;
  physicalName(base: string, stage: string, region: string): string;
}

export type Side = 'leads' | 'calls';

/** @throws UsageError unless `name` is a stage's */
export function findStage({ stages }: Deployment, name: string | undefined): StageSettings {
  const names = stages.map((stage) => stage.name).join(' or ');
  if (name === undefined) throw new UsageError(`--stage is needed: ${names}.`);
  const found = stages.find((stage) => stage.name === name);
  if (!found) throw new UsageError(`--stage ${name}: there is ${names} only.`);
  return found;
}
