/** Deep links into the AWS console of one region. They hold names only, so they work for whoever may sign in. */

function consoleUrl(region: string, service: string, page: string): string {
  return `https://${region}.console.aws.amazon.com/${service}/home?region=${region}#${page}`;
}

export function alarmLink(region: string, alarmName: string): string {
  return consoleUrl(region, 'cloudwatch', `alarmsV2:alarm/${encode(alarmName)}`);
}

export function queueLink(region: string, account: string, queueName: string): string {
  const url = `https://sqs.${region}.amazonaws.com/${account}/${queueName}`;
  return consoleUrl(region, 'sqs/v3', `/queues/${encode(url)}`);
}

/**
 * A log group's console page, narrowed to the lines of a window; undefined when the URL isn't such a page.
 * Behind its # the console writes a query with $ in place of %.
 */
export function logLinesLink(url: string, window: { from: Date; to: Date }): string | undefined {
  if (!/#logsV2:log-groups\/log-group\/[^/]+$/.test(url)) return undefined;
  return `${url}/log-events$3Fstart$3D${window.from.getTime()}$26end$3D${window.to.getTime()}`;
}

/** encodeURIComponent throws on half a surrogate pair. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
