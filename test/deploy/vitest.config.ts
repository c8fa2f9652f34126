import { defineConfig } from 'vitest/config';

/** Apart from the other tests: half a minute of processor time, and moto, which few machines have. */
export default defineConfig({
  test: {
    include: ['test/deploy/*.spec.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  },
});
