/**
 * Limits of every AWS call. The SDK has none of its own for an answer that never comes: one hung call would
 * use up the invocation. Two attempts at 3 s fit even the shortest function's time-out.
 */
export const awsClientConfig = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};
