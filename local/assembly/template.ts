/** The account of everything that runs here; the one that fauxqs knows. */
export const localAccount = '000000000000';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface TemplateResource {
  Type: string;
  Properties?: { [key: string]: Json };
  Condition?: string;
}

/** One synthesized stack of a stage, its account rewritten to the local one. */
export interface StackTemplate {
  name: string;
  region: string;
  resources: Record<string, TemplateResource>;
  /** `Code.S3Key` -> directory of the asset: the very bundle that would be deployed. */
  assets: ReadonlyMap<string, string>;
}
