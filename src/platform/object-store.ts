import type { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { awsClientConfig } from './aws-client-config.ts';

export interface ObjectHead {
  bytes: number;
  contentType?: string;
  metadata: Record<string, string>;
}

/** One bucket as a port. */
export interface ObjectStore {
  /** Undefined when there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /**
   * Stores a stream with bounded memory, whole or not at all, and returns its bytes.
   *
   * @throws the stream's own error, after which nothing is left in the bucket; S3's errors
   */
  upload(
    key: string,
    stream: Readable,
    options: { contentType: string; metadata: Record<string, string> },
  ): Promise<number>;
  /** Undefined when there is no such object. */
  getText(key: string): Promise<string | undefined>;
}

/** S3 takes 10,000 parts, so 80 GB in all. */
const partBytes = 8 * 2 ** 20;
/** One is sent while the next one fills: about three parts are in memory. */
const partsAtOnce = 2;

/** A part of 8 MB takes longer than a call without a body. */
const clientConfig = {
  ...awsClientConfig,
  requestHandler: { ...awsClientConfig.requestHandler, requestTimeout: 15_000 },
};

/**
 * The role needs `s3:ListBucket` beside the object rights: without it S3 answers 403 for an object that isn't
 * there (https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html).
 */
export function createObjectStore(bucketName: string, client = new S3Client(clientConfig)): ObjectStore {
  return {
    async head(key) {
      const answer = await orMissing(client.send(new HeadObjectCommand({ Bucket: bucketName, Key: key })));
      return (
        answer && {
          bytes: answer.ContentLength ?? 0,
          ...(answer.ContentType === undefined ? {} : { contentType: answer.ContentType }),
          metadata: answer.Metadata ?? {},
        }
      );
    },

    async upload(key, stream, { contentType, metadata }) {
      let bytes = 0;
      const upload = new Upload({
        client,
        params: { Bucket: bucketName, Key: key, Body: stream, ContentType: contentType, Metadata: metadata },
        partSize: partBytes,
        queueSize: partsAtOnce,
      });
      upload.on('httpUploadProgress', ({ loaded = 0 }) => {
        bytes = loaded;
      });
      await upload.done();
      return bytes;
    },

    async getText(key) {
      const answer = await orMissing(client.send(new GetObjectCommand({ Bucket: bucketName, Key: key })));
      return answer && (await answer.Body?.transformToString());
    },
  };
}

async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
    throw error;
  }
}
