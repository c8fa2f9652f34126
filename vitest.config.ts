import { defineConfig } from 'vitest/config';

/**
 * What keeps nothing between files: these share their workers' modules, since to load CDK, parsers and SDKs anew for
 * each file takes longer than their tests.
 */
const shared = ['alarms', 'calls', 'cases', 'contacts', 'db', 'leads', 'lib', 'mail', 'ringcentral'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
const everything = ['test/**/*.test.ts'];

const jsonReport = process.env.VITEST_JSON_REPORT;

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
      {
        extends: true,
        test: { name: 'isolated', include: everything, exclude: ['test/deploy/**', ...shared] },
      },
    ],
    globalSetup: ['test/support/global-setup.ts'],
    // Real servers on a busy machine; nothing waits this long on an idle one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Tests with deadlines of their own can miss them on a busy CI machine; a second failure is a failure.
    retry: process.env.CI ? 1 : 0,
    reporters: jsonReport ? ['default', ['json', { outputFile: jsonReport }]] : ['default'],
    // The SDK's notice about Node 20; Lambda runs Node 24.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
});
