import { describe, expect, it } from 'vitest';
import { readEmail } from '../../../src/mail/fields/email.ts';
import { readNamePart, splitName } from '../../../src/mail/fields/name.ts';

describe('splitName', () => {
  it.each([
    ['Ana Lopez', 'Ana', 'Lopez'],
    ['  Ana   Lopez ', 'Ana', 'Lopez'],
    ['Lopez, Ana', 'Ana', 'Lopez'],
    ['Lopez Garcia, Ana Maria', 'Ana Maria', 'Lopez Garcia'],
    ['Ana Lopez Garcia', 'Ana', 'Lopez Garcia'],
    ['Dr. Ana Lopez', 'Ana', 'Lopez'],
    ['Lopez, Dr. Ana', 'Ana', 'Lopez'],
    ['Bo Chen, Jr.', 'Bo', 'Chen Jr.'],
    ["Ana O'Neil", 'Ana', "O'Neil"],
    ['Ana O&#039;Neil', 'Ana', "O'Neil"],
    ['José Nuñez-Díaz', 'José', 'Nuñez-Díaz'],
    ['"Ana Lopez"', 'Ana', 'Lopez'],
    ['Ana Lopez <ana@x.example>', 'Ana', 'Lopez'],
    ['Ana Lopez (friend)', 'Ana', 'Lopez'],
    ['李 小龙', '李', '小龙'],
  ])('%j', (value, firstName, lastName) => {
    expect(splitName(value)).toEqual({ firstName, lastName });
  });

  it('leaves out what is not there', () => {
    expect(splitName('Ana')).toEqual({ firstName: 'Ana' });
    expect(splitName('Lopez,')).toEqual({ firstName: 'Lopez' });
  });

  it.each([
    'Potential Customer',
    'New Customer',
    'Unknown',
    'Unknown Caller',
    'Anonymous',
    'Google User',
    'N/A',
    'n/a',
    'None',
    '(empty)',
    'Not provided',
    'Value',
    '-',
    '',
    '???',
    'ana@x.example',
    '(212) 555-0147',
    'https://gym.example',
    'Phone Number',
    'Last Name',
    'Yes',
  ])('has no name in %j', (value) => {
    expect(splitName(value)).toEqual({});
  });

  it('keeps a name that only looks like a placeholder word', () => {
    expect(splitName('Guest Lopez')).toEqual({ firstName: 'Guest', lastName: 'Lopez' });
    expect(readNamePart('Day')).toBe('Day');
    expect(splitName('Test Lead')).toEqual({ firstName: 'Test', lastName: 'Lead' });
    expect(splitName('Will Call')).toEqual({ firstName: 'Will', lastName: 'Call' });
  });
});

describe('readEmail', () => {
  it.each([
    ['ana@x.example', 'ana@x.example'],
    ['Ana@X.Example', 'ana@x.example'],
    ['Dan Yates <dan@x.example>', 'dan@x.example'],
    ['ana@x.example, accepts marketing: true', 'ana@x.example'],
    ['mailto:ana@x.example', 'ana@x.example'],
    ['mailto:ana@x.example?subject=Hi', 'ana@x.example'],
    ['ana@x.example<mailto:ana@x.example>', 'ana@x.example'],
    ['ana@x.example [ana@x.example]', 'ana@x.example'],
    ['"ana@x.example"', 'ana@x.example'],
    ['ana@x.example.', 'ana@x.example'],
    ['ana+gym@mail.x.example', 'ana+gym@mail.x.example'],
    ["o'neil@x.example", 'neil@x.example'],
    ['josé@café.example', 'josé@café.example'],
  ])('%j', (value, expected) => {
    expect(readEmail(value)).toBe(expected);
  });

  it.each([
    'Dan Yates',
    'ana@',
    '@x.example',
    'ana@localhost',
    'ana@x..example',
    'ana@-x.example',
    '',
    'ana at x.example',
    `${'a'.repeat(300)}@x.example`,
  ])('has no address in %j', (value) => {
    expect(readEmail(value)).toBeUndefined();
  });
});
