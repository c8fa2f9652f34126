/** Answers with what it was asked, or as the body says. */
export const handler = async (event) => {
  const body = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : (event.body ?? '');
  if (body === 'fail') throw new Error('broken');
  if (body === 'plain') return { seen: event.rawPath };
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json', 'Validation-Token': event.headers['validation-token'] ?? 'none' },
    body: JSON.stringify(event),
  };
};
