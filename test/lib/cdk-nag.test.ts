import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { placeholderApp } from '../support/synthesized.ts';

afterEach(() => vi.restoreAllMocks());

describe('cdk-nag (AwsSolutions)', () => {
  function check(app: ReturnType<typeof placeholderApp>): string[] {
    // The report goes to the console as well.
    vi.spyOn(console, 'error').mockImplementation(() => {});
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    try {
      app.synth();
    } catch {
      // The report says why.
    }
    const report = JSON.parse(readFileSync(path.join(app.outdir, 'validation-report.json'), 'utf8'));
    return report.pluginReports.flatMap(({ violations }: { violations: { ruleName: string }[] }) =>
      violations.map(({ ruleName }) => ruleName),
    );
  }

  it('has no finding in any stage that is not acknowledged with its reason', () => {
    expect(check(placeholderApp())).toEqual([]);
  });

  it('finds a queue without TLS and dead-letter queue', () => {
    const app = placeholderApp();
    new Queue(app.node.findChild('prod').node.findChild('Callytics'), 'Careless');
    expect(check(app)).toEqual(expect.arrayContaining(['AwsSolutions-SQS3', 'AwsSolutions-SQS4']));
  });
});
