import { App, Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { logsLink, queueLink as templateQueueLink } from '../../lib/console-links.ts';
import { alarmLink, logLinesLink, queueLink } from '../../src/alarms/console-links.ts';
import { parseDescription } from '../../src/alarms/description.ts';
import { alarmTopicName, regionOf, resourceOf, severityOf } from '../../src/alarms/topic.ts';
import { topics } from './notifications.ts';

const stack = new Stack(new App(), 'Stack', { env: { account: '123456789012', region: 'us-east-1' } });
const window = { from: new Date('2026-11-03T13:46:00Z'), to: new Date('2026-11-03T14:21:00Z') };

describe('console links', () => {
  it('lead to the same queue page as the alarm`s description, so that the card has one button for it', () => {
    expect(queueLink('us-east-1', '123456789012', 'neon-write-dlq-us-east-1')).toBe(
      templateQueueLink(stack, 'neon-write-dlq-us-east-1'),
    );
  });

  it('narrow the description`s log group to a window', () => {
    const page = logsLink(stack, 'prod-LeadTracking-PollerLogs1A2B-xyz');
    expect(logLinesLink(page, window)).toBe(
      'https://us-east-1.console.aws.amazon.com/cloudwatch/home?region=us-east-1#logsV2:log-groups/log-group/prod-LeadTracking-PollerLogs1A2B-xyz/log-events$3Fstart$3D1793713560000$26end$3D1793715660000',
    );
  });

  it('leave other pages alone', () => {
    expect(logLinesLink(templateQueueLink(stack, 'queue'), window)).toBeUndefined();
  });

  it('hold whatever name an alarm has', () => {
    expect(alarmLink('us-west-2', 'a/b c#\ud800')).toBe(
      'https://us-west-2.console.aws.amazon.com/cloudwatch/home?region=us-west-2#alarmsV2:alarm/a%2Fb%20c%23%EF%BF%BD',
    );
  });
});

describe('an alarm`s description', () => {
  it('is text and links', () => {
    expect(
      parseDescription('Leads wait.\nRunbook: docs/runbook.md#x\nLogs: https://logs.example/a?b=c#d\n'),
    ).toEqual({
      meaning: 'Leads wait.\nRunbook: docs/runbook.md#x\n',
      links: [{ label: 'Logs', url: 'https://logs.example/a?b=c#d' }],
    });
  });

  it.each([
    'Go: javascript:alert(1)',
    'Go: http://plain.example/',
    'Go: https://two words',
    'Go: https://',
    'https://no.label.example/',
  ])('takes this for text: %s', (line) => {
    expect(parseDescription(line)).toEqual({ meaning: line, links: [] });
  });
});

describe('a topic', () => {
  it('tells how urgent its alarms are, in every stage and region', () => {
    expect(severityOf(topics.page)).toBe('page');
    expect(severityOf(topics.look)).toBe('look');
    expect(resourceOf(topics.page)).toBe(`${alarmTopicName('page')}-us-west-2`);
    expect(regionOf(topics.look)).toBe('us-east-1');
  });

  it('that is not ours counts as urgent', () => {
    expect(severityOf('arn:aws:sns:us-west-2:123456789012:other')).toBe('page');
    expect(severityOf('')).toBe('page');
  });
});
