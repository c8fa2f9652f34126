import { adf } from './adf.ts';
import { calendly } from './calendly.ts';
import { contactForm7 } from './contact-form-7.ts';
import { elementor } from './elementor.ts';
import type { LeadFormat } from './format.ts';
import { formsubmit } from './formsubmit.ts';
import { introBooking, webLead } from './franchise.ts';
import { htmlTable, labelledText } from './generic.ts';
import { gravityForms } from './gravity-forms.ts';
import { hubspot } from './hubspot.ts';
import { machineBlock } from './machine-block.ts';
import { metaLead } from './meta-lead.ts';
import { replyToOnly } from './reply-to.ts';
import { servicePlatform } from './service-platform.ts';
import { squarespace } from './squarespace.ts';
import { swimSchool } from './swim-school.ts';
import { wix } from './wix.ts';
import { wpforms } from './wpforms.ts';

/** In the order in which they are tried: the first that knows its layout reads the mail; the generic ones last. */
export const formats: readonly LeadFormat[] = [
  { name: 'adf', read: adf },
  { name: 'machine-block', read: machineBlock },
  { name: 'calendly', read: calendly },
  { name: 'squarespace', read: squarespace },
  { name: 'formsubmit', read: formsubmit },
  { name: 'contact-form-7', read: contactForm7 },
  { name: 'elementor', read: elementor },
  { name: 'wpforms', read: wpforms },
  { name: 'gravity-forms', read: gravityForms },
  { name: 'wix', read: wix },
  { name: 'hubspot', read: hubspot },
  { name: 'service-platform', read: servicePlatform },
  { name: 'meta-lead', read: metaLead },
  { name: 'swim-school', read: swimSchool },
  { name: 'intro-booking', read: introBooking },
  { name: 'web-lead', read: webLead },
  { name: 'html-table', read: htmlTable },
  { name: 'labelled-text', read: labelledText },
  { name: 'reply-to', read: replyToOnly },
];
