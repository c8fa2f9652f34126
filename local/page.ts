import type { LogLine } from './journal.ts';
import type { ReportNames, ReportTable } from './report.ts';
import { reportTables } from './report.ts';
import type { Snapshot } from './snapshot.ts';

export interface TablesContent {
  snapshot: Snapshot;
  names: ReportNames;
  /** Dead-letter queues that can be redriven. */
  redrivable: ReadonlySet<string>;
}

export interface PageContent extends TablesContent {
  stage: string;
  lines: readonly LogLine[];
  /** Allows the page's own style and script, and nothing else. */
  nonce: string;
  /** What the last action did. */
  notice?: string;
}

const style = `
  :root { color-scheme: light dark; --line: #8885; --muted: #595959; --shade: #8881; font: 16px/1.5 system-ui, sans-serif; }
  @media (prefers-color-scheme: dark) { :root { --muted: #adadad; } }
  body { margin: 0 auto; max-width: 80rem; padding: 1rem; }
  h1 { font-size: 1.6rem; line-height: 1.25; }
  h2 { font-size: 1.2rem; margin: 0; position: sticky; left: 0; width: max-content; }
  section { margin-block: 1.5rem; overflow-x: auto; }
  section p { margin: 0.25rem 0; color: var(--muted); }
  table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
  caption { text-align: start; color: var(--muted); padding-block: 0.25rem; }
  th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.75rem 0.3rem 0.25rem; text-align: start; overflow-wrap: break-word; }
  td { white-space: pre-line; }
  th { background: var(--shade); white-space: nowrap; }
  pre { margin: 0.5rem 0; max-height: 24rem; overflow: auto; border: 1px solid var(--line); padding: 0.5rem; font-size: 0.8rem; }
  button { font: inherit; padding: 0 0.75rem; min-height: 1.75rem; }
  :focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
  [role=status] { border: 1px solid var(--line); border-inline-start-width: 0.4rem; padding: 0.5rem 0.75rem; overflow-wrap: anywhere; }
`;

/**
 * Adds log lines as they come, and shows anew what changed in the tables when the run has moved on. The
 * sections stay, and with them focus and scroll position.
 */
const script = `
  // After a redrive: reloading must show the page, not redrive again.
  history.replaceState(null, '', '/');
  const log = document.querySelector('[role=log]');
  log.scrollTop = log.scrollHeight;
  const events = new EventSource('/events');
  events.addEventListener('line', ({ data }) => {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(data + '\\n');
    if (atEnd) log.scrollTop = log.scrollHeight;
  });
  events.addEventListener('moved', async () => {
    const text = await (await fetch('/tables')).text();
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelectorAll('section');
    const focused = document.activeElement.value;
    document.querySelectorAll('#tables > section').forEach((section, index) => {
      if (section.innerHTML !== fresh[index].innerHTML) section.replaceChildren(...fresh[index].childNodes);
    });
    if (focused) document.querySelector('button[value="' + focused + '"]')?.focus({ preventScroll: true });
  });
`;

/** The run as one HTML page, rendered on the server; it reads the same without its script. */
export function renderPage({ stage, lines, nonce, notice, ...content }: PageContent): string {
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
${renderTables(content)}
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

/** One section a table: the part of the page that is shown anew. */
export function renderTables({ snapshot, names, redrivable }: TablesContent): string {
  const tables = reportTables(snapshot, names).map((table) =>
    table.title === 'Queues' ? withRedrive(table, redrivable) : plain(table),
  );
  return [...tables, plain(errorTable(snapshot))].map(section).join('\n');
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
  return {
    title,
    columns,
    caption: `${title}: ${countOf(rows)}`,
    rows: rows.map((row) => row.map(escapeHtml)),
  };
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
  // Wide tables scroll in their section, so the keyboard must reach it.
  return `<section aria-labelledby="${id}" tabindex="0">\n<h2 id="${id}">${title}</h2>\n${rows.length > 0 ? table : '<p>None.</p>'}\n</section>`;
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
