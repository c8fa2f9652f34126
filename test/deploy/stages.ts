import { motoAccount } from './moto.ts';

export const day = 86_400;
export const stacks = ['prod/Callytics', 'prod/LeadTracking', 'test/Callytics', 'test/LeadTracking'];
/** Prod carries the bare names, test inserts its own; both are in the one account. */
export const stages = [
  { stage: 'prod', infix: '', retention: 90, leadsOf: ['prod'] },
  { stage: 'test', infix: 'test-', retention: 14, leadsOf: ['test', 'prod'] },
];
export const inBothStages = (region: string, names: string[]) =>
  stages.flatMap(({ infix }) => names.map((name) => `${name}-${infix}${region}`)).toSorted();
export const arn = (service: string, region: string, resource: string) =>
  `arn:aws:${service}:${region}:${motoAccount}:${resource}`;

/** Lines such as `✅  prod/Callytics (prod-Callytics) (no changes)`. */
export const finished = (output: string) =>
  [...output.matchAll(/✅ {2}(\S+) \(\S+\)(.*)$/gm)].map(([, stack, how]) => `${stack}${how}`).toSorted();
