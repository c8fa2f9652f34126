import { describe, expect, it } from 'vitest';
import { isCancellation } from '../../src/mail/classify.ts';

describe('M58 a cancelled booking', () => {
  it.each([
    'Canceled: Ana Lopez - 09:15am Sat, Nov 7, 2026',
    'Cancelled: Online Intro',
    'Canceled event: Intro Class with Ana Lopez',
    'Cancellation - Intro Class',
    'Cancellation of your booking',
    'Booking cancelled - Ana Lopez',
    'Booking Cancellation Notice',
    'Appointment Cancellation',
    'Intro booking for Ana Lopez cancelled',
    'Your class has been canceled',
    'Online Intro Cancelled: Ana Lopez',
    'Fwd: [Studio] Canceled: Ana Lopez',
    'Ana Lopez cancelled her intro class',
    'Booking #123 cancelled',
    'Late cancel: Ana Lopez - Orange 60',
    'Client cancelled: Ana Lopez',
  ])('is told by the subject %j', (subject) => {
    expect(isCancellation([subject], [])).toBe(true);
  });

  it.each(['Your booking has been cancelled.', 'The intro class on Saturday was canceled by Ana.'])(
    'is told by the opening %j',
    (line) => {
      expect(isCancellation(['Studio news'], [line])).toBe(true);
    },
  );

  it.each([
    'Online Intro Offer - free cancellation anytime',
    'Gym "My class was cancelled at my old studio, want to join"',
    'New booking - cancelled members offer',
    'Web Lead: cancelled class waitlist',
    'Waitlist spot opened: class was cancelled by another member',
    'Canceled member win-back - Web Lead',
    'Web Lead - see our cancellation policy',
    'Membership cancelled',
  ])('is not told by a subject that only has the word: %j', (subject) => {
    expect(isCancellation([subject], [])).toBe(false);
  });

  it.each([
    'A member has cancelled their membership elsewhere and wants in.',
    'My class was cancelled at my old studio, I want to join yours',
  ])('is not told by an opening of another kind: %j', (line) => {
    expect(isCancellation(['Web Lead'], [line])).toBe(false);
  });
});
