import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidMessageError, parseMessage } from '../../src/platform/message.ts';

const schema = z.object({ detail: z.object({ phone: z.string().startsWith('+'), count: z.number() }) });

function fieldsOf(body: string): string[] {
  try {
    parseMessage(schema, body);
  } catch (error) {
    if (error instanceof InvalidMessageError) return error.fields;
  }
  throw new Error('expected an InvalidMessageError');
}

describe('parseMessage', () => {
  it('returns the parsed message', () => {
    expect(parseMessage(schema, '{"detail":{"phone":"+1","count":2,"more":3}}')).toEqual({
      detail: { phone: '+1', count: 2 },
    });
  });

  it.each(['', 'no json', '[]', '"text"', 'null'])('names the body when it is no object: %s', (body) => {
    expect(fieldsOf(body)).toEqual(['body']);
  });

  it('names the paths of the fields, once each, and never their values', () => {
    expect(fieldsOf('{"detail":{"phone":"555-0147","count":"x"}}')).toEqual(['detail.phone', 'detail.count']);
    expect(() => parseMessage(schema, '{"detail":{"phone":"555-0147","count":1}}')).toThrow(
      /^invalid message: detail\.phone$/,
    );
  });
});
