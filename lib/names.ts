/**
 * The physical name of a resource: prod carries the bare one, another stage inserts its own name, so that
 * both can live in one account (`neon-write-dlq-us-east-1`, `neon-write-dlq-test-us-east-1`).
 */
export function physicalName(base: string, stage: string, region: string): string {
  return stage === 'prod' ? `${base}-${region}` : `${base}-${stage}-${region}`;
}
