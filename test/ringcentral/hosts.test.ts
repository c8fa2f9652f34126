import { describe, expect, it } from 'vitest';
import { allowedUrl, isAllowedServer } from '../../src/ringcentral/hosts.ts';

const production = 'https://platform.ringcentral.com';

describe('a URL that may get a token', () => {
  it.each([
    'https://media.ringcentral.com/restapi/v1.0/account/1/recording/2/content',
    'https://media.ringcentral.com:443/restapi/v1.0/account/1/recording/2/content',
    'https://platform.ringcentral.com/restapi/v1.0/account/~/call-log?page=2',
  ])('is %s', (url) => {
    expect(allowedUrl(url, production)?.href).toBeDefined();
  });

  it.each([
    'http://media.ringcentral.com/x',
    'https://media.ringcentral.com:8443/x',
    'https://media.ringcentral.com.evil.example/x',
    'https://evil.example/media.ringcentral.com',
    'https://evilringcentral.com/x',
    'https://media.ringcentral.com@evil.example/x',
    'https://user:pass@media.ringcentral.com/x',
    'https://evil.example#media.ringcentral.com',
    'http://127.0.0.1/x',
    'https://169.254.169.254/latest',
    'file:///etc/passwd',
    'media.ringcentral.com/x',
    '',
  ])('is not %s', (url) => {
    expect(allowedUrl(url, production)).toBeUndefined();
  });

  it('is on loopback only when the server is', () => {
    const local = 'http://127.0.0.1:8080';
    expect(allowedUrl('http://127.0.0.1:8080/media/x', local)).toBeDefined();
    expect(allowedUrl('https://media.ringcentral.com/x', local)).toBeUndefined();
  });
});

describe('a server', () => {
  it.each([
    ['https://platform.ringcentral.com', true],
    ['https://platform.devtest.ringcentral.com', true],
    ['http://127.0.0.1:8080', true],
    ['http://localhost:8080', true],
    ['http://[::1]:8080', true],
    ['https://platform.ringcentral.com:8443', false],
    ['http://platform.ringcentral.com', false],
    ['http://127.0.0.1.evil.example', false],
    ['ftp://127.0.0.1', false],
    ['platform.ringcentral.com', false],
  ])('%s: %s', (server, allowed) => {
    expect(isAllowedServer(server)).toBe(allowed);
  });
});
