import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stages } from '../../lib/config.ts';

const directory = path.join(import.meta.dirname, '../../.github/workflows');
const workflows = readdirSync(directory).map((name) => ({
  name,
  text: readFileSync(path.join(directory, name), 'utf8').replaceAll(/^\s*#.*$/gm, ''),
}));
const all = workflows.map(({ text }) => text).join('\n');
const workflow = (name: string) => workflows.find((one) => one.name === name)?.text ?? '';

/** The jobs of a workflow: what is indented below each name under `jobs:`. */
function jobsOf(text: string): string[] {
  const [, jobs = ''] = text.split('\njobs:\n');
  return jobs.split(/^ {2}(?=\w)/m).filter((job) => job.trim() !== '');
}

describe.each(workflows)('$name', ({ text }) => {
  it('uses actions of others by full commit SHA, with the version beside it', () => {
    const used = [...text.matchAll(/uses: (.+)$/gm)].map((match) => match[1] ?? '');
    const foreign = used.filter((action) => !action.startsWith('./.github/workflows/'));
    for (const action of foreign) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('grants nothing as a whole, and each job what it needs', () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    const jobs = jobsOf(text);
    expect(jobs.length).toBeGreaterThan(0);
    for (const job of jobs) expect(job).toMatch(/^ {4}permissions:$/m);
  });

  it('holds no long-lived key, and leaves no token behind in the checkout', () => {
    expect(text).not.toMatch(/secrets\.|aws-access-key|aws-secret|AKIA/i);
    const checkouts = text.split('actions/checkout@').slice(1);
    for (const checkout of checkouts) expect(checkout.split('- ')[0]).toContain('persist-credentials: false');
  });

  it('puts no text from outside into a script', () => {
    const scripts = [...text.matchAll(/run: (?:\|\n((?: {10}.*\n)+)|(.+))/g)].map(
      (match) => match[1] ?? match[2] ?? '',
    );
    for (const script of scripts) expect(script).not.toContain('${{');
  });
});

it('uses one version of each action', () => {
  const pins = [...all.matchAll(/uses: ([\w-]+\/[\w-]+)@(\S+)/g)].map(
    ([, action, sha]) => `${action} ${sha}`,
  );
  const actions = new Set(pins.map((pin) => pin.split(' ')[0]));
  expect(new Set(pins).size).toBe(actions.size);
});

it('never runs a pull request`s code with a token that may write, or with a deploying role', () => {
  expect(all).not.toContain('pull_request_target');
  expect(workflow('check.yml')).not.toContain('write');
  const [diff = '', comment = ''] = jobsOf(workflow('diff.yml'));
  expect(diff).toContain('github.event.pull_request.head.repo.full_name == github.repository');
  expect(diff.match(/\w[\w-]+: write/g)).toEqual(['id-token: write']);
  expect(diff).toContain('vars.AWS_DIFF_ROLE_ARN');
  expect(comment.match(/\w[\w-]+: write/g)).toEqual(['pull-requests: write']);
  expect(comment).not.toMatch(/npm|npx|checkout/);
});

it('deploys each stage once what must hold was checked, prod last, and one run at a time', () => {
  const jobs = jobsOf(workflow('deploy.yml'));
  const steps = jobs.map((job) => ({
    needs: /needs: (\w+)/.exec(job)?.[1],
    stage: /stage: (\w+)/.exec(job)?.[1],
  }));
  expect(steps).toEqual([
    { needs: undefined, stage: undefined },
    { needs: 'check', stage: 'test' },
    { needs: 'test', stage: 'prod' },
  ]);
  expect(stages.map(({ name }) => name)).toEqual(['test', 'prod']);
  const deployment = workflow('deploy-stage.yml');
  expect(deployment).toMatch(/environment: \$\{\{ inputs\.stage \}\}/);
  expect(deployment).toMatch(/group: deploy-\$\{\{ inputs\.stage \}\}\n +cancel-in-progress: false/);
  const [migrate = 0, deploy = 0] = ['db:migrate', 'cdk deploy'].map((step) => deployment.indexOf(step));
  expect(migrate).toBeGreaterThan(0);
  expect(deploy).toBeGreaterThan(migrate);
});
