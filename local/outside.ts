import type { FunctionPlan } from './assembly/functions.ts';
import type { TablePlan } from './assembly/tables.ts';
import type { Telephony } from './calls/telephony.ts';
import type { Databases } from './databases.ts';
import type { LocalMailbox } from './imap.ts';
import type { ParameterValues } from './services/ssm.ts';
import type { Outside } from './stage.ts';

/**
 * What an operator makes by hand before a deployment (README): the secrets, and another team's store table.
 *
 * @param ringCentral without it no account has a parameter
 */
export function outsideOf(
  databases: Pick<Databases, 'ownUrl' | 'mirrorUrl' | 'endpoint'>,
  mailbox: LocalMailbox,
  ringCentral?: Pick<Telephony, 'parameters'>,
): Outside {
  const values: Record<string, string> = {
    NEON_URL_PARAMETER: databases.ownUrl,
    NEON_MIRROR_URL_PARAMETER: databases.mirrorUrl,
    IMAP_PARAMETER: JSON.stringify({ ...mailbox.settings, mailboxes: [mailbox.folder] }),
  };
  return {
    parameters: (functions) =>
      joinedParameters(parametersFor(functions, values), ringCentral?.parameters(functions) ?? new Map()),
    tables: storeTables,
    environment: { NEON_HTTP_ENDPOINT: databases.endpoint },
  };
}

/** One value for each parameter that a function names in its environment, in the function's region. */
function parametersFor(functions: readonly FunctionPlan[], values: Record<string, string>): ParameterValues {
  const byRegion = new Map<string, Map<string, string>>();
  for (const { region, environment } of functions) {
    const inRegion = byRegion.get(region) ?? new Map<string, string>();
    byRegion.set(region, inRegion);
    for (const [variable, value] of Object.entries(values)) {
      const name = environment[variable];
      if (name) inRegion.set(name, value);
    }
  }
  return byRegion;
}

/** All of them, by region. */
export function joinedParameters(...all: readonly ParameterValues[]): ParameterValues {
  const regions = new Set(all.flatMap((values) => [...values.keys()]));
  return new Map(
    [...regions].map((region) => [region, new Map(all.flatMap((values) => [...(values.get(region) ?? [])]))]),
  );
}

/** StoresV2, in the region where the functions look for it. */
export function storeTables(functions: readonly FunctionPlan[]): TablePlan[] {
  const tables = new Map<string, TablePlan>();
  for (const { environment, region: ownRegion } of functions) {
    const { STORES_TABLE_NAME: name, STORES_TABLE_REGION: region = ownRegion } = environment;
    if (!name) continue;
    tables.set(`${region}/${name}`, {
      name,
      region,
      attributes: [{ AttributeName: 'storeId', AttributeType: 'S' }],
      key: [{ AttributeName: 'storeId', KeyType: 'HASH' }],
      indexes: [],
    });
  }
  return [...tables.values()];
}
