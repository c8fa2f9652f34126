import type { LogLine } from './journal.ts';
import type { ReportNames, ReportTable } from './report.ts';
import { reportTables } from './report.ts';
import type { Snapshot } from './snapshot.ts';

export interface PageContent {
  stage: string;
  snapshot: Snapshot;
  names: ReportNames;
  /** Dead-letter queues that can be redriven. */
  redrivable: ReadonlySet<string>;
  lines: readonly LogLine[];
  /** Allows the page's own style and script, and nothing else. */
  nonce: string;
  /** What the last action did. */
  notice?: string;
}

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0 auto; max-width: 80rem; padding: 1rem; }
  table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; width: 100%; }
  caption { text-align: start; }
  th, td { border: 1px solid #8886; padding: 0.25rem 0.5rem; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
  pre { max-height: 24rem; overflow: auto; border: 1px solid #8886; padding: 0.5rem; }
  button { font: inherit; padding: 0.25rem 0.75rem; }
`;

/** Adds log lines as they come, and shows the tables anew when the run has moved on. */
const script = `
  const log = document.querySelector('[role=log]');
  const events = new EventSource('/events');
  events.addEventListener('line', ({ data }) => {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(data + '\\n');
    if (atEnd) log.scrollTop = log.scrollHeight;
  });
  events.addEventListener('moved', async () => {
    if (document.querySelector('#tables').contains(document.activeElement)) return;
    const text = await (await fetch('/')).text();
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('#tables');
    document.querySelector('#tables').replaceWith(fresh);
  });
`;

/** The run as one HTML page, rendered on the server; it reads the same without its script. */
export function renderPage({
  stage,
  snapshot,
  names,
  redrivable,
  lines,
  nonce,
  notice,
}: PageContent): string {
  const tables = reportTables(snapshot, names).map((table) =>
    table.title === 'Queues' ? section(withRedrive(table, redrivable)) : section(plain(table)),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>callytics: stage ${escapeHtml(stage)} on this machine</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${style}</style>
</head>
<body>
<header><h1>Stage ${escapeHtml(stage)} on this machine</h1></header>
<main>
${notice ? `<p role="status">${escapeHtml(notice)}</p>` : ''}
<div id="tables">
${tables.join('\n')}
${section(plain(errorTable(snapshot)))}
</div>
<section aria-labelledby="log">
<h2 id="log">Log</h2>
<pre role="log" tabindex="0" aria-labelledby="log">${escapeHtml(lines.map(logText).join('\n'))}
</pre>
</section>
</main>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`;
}

/** A log line as the page shows it. */
export function logText({ at, functionName, line }: LogLine): string {
  return `${at.toISOString().slice(11, 23)} ${functionName} ${line}`;
}

/** A table whose cells are HTML already. */
interface HtmlTable extends ReportTable {
  caption: string;
}

function plain({ title, columns, rows }: ReportTable): HtmlTable {
  return { title, columns, caption: countOf(rows), rows: rows.map((row) => row.map(escapeHtml)) };
}

function withRedrive(table: ReportTable, redrivable: ReadonlySet<string>): HtmlTable {
  const { columns, rows, ...rest } = plain(table);
  const action = (queue = '') => {
    if (!redrivable.has(queue)) return '';
    const name = escapeHtml(queue);
    return `<form method="post" action="/redrive"><button name="queue" value="${name}" aria-label="Redrive ${name}">Redrive</button></form>`;
  };
  return { ...rest, columns: [...columns, 'action'], rows: rows.map((row) => [...row, action(row[0])]) };
}

function errorTable({ errors }: Snapshot): ReportTable {
  return {
    title: 'Errors',
    columns: ['kind', 'where', 'message'],
    rows: errors.map(({ kind, where, message }) => [kind, where, message]),
  };
}

function section({ title, caption, columns, rows }: HtmlTable): string {
  const id = title.toLowerCase();
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  const table = `<table>\n<caption>${caption}</caption>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>`;
  return `<section aria-labelledby="${id}">\n<h2 id="${id}">${title}</h2>\n${rows.length > 0 ? table : '<p>None.</p>'}\n</section>`;
}

function countOf(rows: readonly unknown[]): string {
  return rows.length === 1 ? '1 row' : `${rows.length} rows`;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
