import { expect, it } from 'vitest';
import { hasDisconnected, isTerminal } from '../../src/calls/party-status.ts';
import { anEvent } from './events.ts';

it.each([
  ['Disconnected', true],
  ['disconnected', true],
  ['Gone', false],
  ['Answered', false],
])('an event with a party that is %s asks for the call log: %s', (code, expected) => {
  expect(hasDisconnected(anEvent({ code }))).toBe(expected);
});

it.each([
  ['disconnected', true],
  ['gone', true],
  ['hold', false],
  ['parked', false],
  ['voicemail', false],
])('a party that is %s is out of the session: %s', (status, expected) => {
  expect(isTerminal(status)).toBe(expected);
});
