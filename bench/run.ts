import { cpus, loadavg } from 'node:os';
import { measureBundles } from './bundles.ts';
import { measureCallMemory } from './call-memory.ts';
import { measureCallBursts, measureCallRequests } from './call-requests.ts';
import { measureThroughput } from './mail-throughput.ts';
import { measureGrowth } from './mailbox-growth.ts';
import { measureRoundTrips } from './neon-round-trips.ts';
import { type Report, toMarkdown } from './report.ts';

const measurements: Record<string, () => Promise<Report>> = {
  throughput: measureThroughput,
  growth: measureGrowth,
  'round-trips': measureRoundTrips,
  bundles: measureBundles,
  'call-requests': measureCallRequests,
  'call-bursts': measureCallBursts,
  'call-memory': measureCallMemory,
};

const [name] = process.argv.slice(2);
const chosen = name === undefined ? Object.keys(measurements) : [name];
for (const one of chosen) {
  const measure = measurements[one];
  if (!measure) {
    console.error(`Usage: npm run bench -- [${Object.keys(measurements).join(' | ')}]`);
    process.exit(2);
  }
  const started = performance.now();
  console.log(toMarkdown(await measure()));
  console.log(machine(started));
}

/** The load says how far the milliseconds can be trusted; the ratios are of one run and bear more of it. */
function machine(started: number): string {
  const load = loadavg().map((value) => value.toFixed(1));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  return `Node.js ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, load ${load.join(' ')}, took ${seconds} s\n`;
}
