import { describe, expect, it } from 'vitest';
import { directUrl } from '../../src/db/direct-url.ts';
import { parseMigrationTarget, UsageError } from '../../src/db/migration-target.ts';

const stages = [{ name: 'test' }, { name: 'prod' }];

describe('parseMigrationTarget', () => {
  it('takes a stage or a connection string', () => {
    expect(parseMigrationTarget(['--stage', 'prod'], stages)).toEqual({ stage: { name: 'prod' } });
    expect(parseMigrationTarget(['--url', 'postgresql://u:p@h/d'], stages)).toEqual({
      url: 'postgresql://u:p@h/d',
    });
  });

  it.each([
    [[], /either --stage or --url/],
    [['--stage', 'test', '--url', 'postgres://h/d'], /either --stage or --url/],
    [['--stage', 'staging'], /no stage 'staging'/],
    [['--stage', ''], /no stage ''/],
    [['--stage'], /argument missing/],
    [['--url'], /argument missing/],
    [['--url', ''], /host and database/],
    [['--url', 'postgres://'], /host and database/],
    [['--url', 'postgres://host'], /host and database/],
    [['--url', 'mysql://host/database'], /host and database/],
    [['--ulr', 'postgres://h/d'], /Unknown option/],
    [['postgres://h/d'], /Unexpected argument/],
  ])('refuses %j', (args, message) => {
    const parse = () => parseMigrationTarget(args, stages);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});

describe('directUrl', () => {
  it('names Neon’s direct host, where a session is one connection', () => {
    expect(
      directUrl('postgresql://u:p%40ss@ep-cool-1-pooler.us-east-1.aws.neon.tech/db?sslmode=require'),
    ).toBe('postgresql://u:p%40ss@ep-cool-1.us-east-1.aws.neon.tech/db?sslmode=require');
  });

  it.each([
    'postgresql://u:p@ep-cool-1.us-east-1.aws.neon.tech/db',
    'postgres://u:a-pooler.b@127.0.0.1:5432/db',
  ])('leaves %s as it is', (url) => {
    expect(directUrl(url)).toBe(url);
  });
});
