/** A labelled link of an alarm's description. */
export interface Link {
  label: string;
  url: string;
}

interface Description {
  /** What a failure means. */
  meaning: string;
  links: Link[];
}

/**
 * Reads an alarm's description: text, and lines `Label: https://…`, which become links. Anything else stays
 * text, a runbook article's path too.
 */
export function parseDescription(description: string): Description {
  const lines = description.split(/\r?\n/).map((line) => line.trim());
  const links = lines.map(readLink);
  return {
    meaning: lines.filter((_, index) => !links[index]).join('\n'),
    links: links.filter((link) => link !== undefined),
  };
}

function readLink(line: string): Link | undefined {
  const [, label, url] = /^(\w[\w ]{0,30}): (https:\/\/\S+)$/.exec(line) ?? [];
  if (!label || !url || !URL.canParse(url)) return undefined;
  return { label, url };
}
