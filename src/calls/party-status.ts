import type { TelephonyEvent, TelephonyParty } from '../ringcentral/telephony-event.ts';

/**
 * A party's status: RingCentral's code in lower case. Codes are compared without their case, since RingCentral's
 * documents spell them in several ways.
 */
export function statusOf({ status }: TelephonyParty): string {
  const code = status.code.toLowerCase();
  return code === 'vmscreening' ? 'voicemailscreening' : code;
}

/** Whether the party is out of the session. "Gone" is: into another one (a conference, a transfer). */
export function isTerminal(status: string): boolean {
  return status === 'disconnected' || status === 'gone';
}

/** Whether any party of the event has hung up: what the call log is asked for. One call has several such events. */
export function hasDisconnected({ body }: TelephonyEvent): boolean {
  return body.parties.some((party) => statusOf(party) === 'disconnected');
}
