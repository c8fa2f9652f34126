import { readEnvironment } from './platform/environment.ts';

export async function handler(): Promise<void> {
  readEnvironment('call-sweep');
}
