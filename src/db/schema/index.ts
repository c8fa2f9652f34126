export * from './contact-timeline.ts';
export * from './contacts.ts';
export * from './lead-mails.ts';
export * from './leads.ts';
export * from './tasks.ts';
