import type { ReadLead } from './format.ts';

const formSender =
  /^(?:wordpress|no-?reply|do-?not-?reply|forms?|web|website|webform|site|notifications?|mailer|contact-?form)@/i;
const role =
  /^(?:info|support|hello|contact|sales|team|office|admin|help|service|news|no-?reply|marketing|billing)@/i;

/** A site's mail without any label, such as the visitor's message alone: who wrote it stands in Reply-To. */
export const replyToOnly: ReadLead = ({ from, replyTo }) => {
  const ownDomain = from.split('@')[1] === replyTo.split('@')[1];
  return replyTo !== '' && formSender.test(from) && !ownDomain && !role.test(replyTo)
    ? { kind: 'lead', fields: {} }
    : undefined;
};
