import type { z } from 'zod';

/** A message that isn't what its queue carries. Names the fields that are wrong, never their values. */
export class InvalidMessageError extends Error {
  override name = 'InvalidMessageError';
  /** Paths such as `detail.storeId`; `body` when the message is no JSON object at all. */
  readonly fields: string[];
  constructor(fields: string[]) {
    super(`invalid message: ${fields.join(', ')}`);
    this.fields = fields;
  }
}

/**
 * Reads a message's JSON body.
 *
 * @throws InvalidMessageError
 */
export function parseMessage<Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> {
  const result = schema.safeParse(parseJson(body));
  if (result.success) return result.data;
  const fields = result.error.issues.map(({ path }) => path.join('.') || 'body');
  throw new InvalidMessageError([...new Set(fields)]);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
