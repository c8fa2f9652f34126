/** Behaves as the event asks, for tests of the runtime itself. */
export const handler = async (event, context) => {
  switch (event.do) {
    case 'environment':
      return process.env;
    case 'context':
      return { ...context, remaining: context.getRemainingTimeInMillis() };
    case 'throw':
      throw new TypeError('no good');
    case 'crash':
      process.exit(3);
      break;
    case 'hang':
      return new Promise(() => setInterval(() => undefined, 1000));
    case 'print':
      console.log('to stdout');
      console.error('to stderr');
      return null;
    case 'wait':
      await new Promise((resolve) => setTimeout(resolve, event.milliseconds));
      return process.pid;
    default:
      return event;
  }
};
