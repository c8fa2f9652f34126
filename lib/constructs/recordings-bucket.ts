import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { StageStack } from './stage-stack.ts';

/**
 * Sound and transcripts. Its name is a generated one, since a bucket's is unique in the world. Where the stage
 * doesn't keep its data, the stack can be deleted once the bucket is empty.
 */
export function createRecordingsBucket(scope: Construct, id: string): Bucket {
  const { keepData, recordingRetentionDays } = StageStack.of(scope).config;
  const bucket = new Bucket(scope, id, {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    lifecycleRules: [
      { id: 'Expire', expiration: Duration.days(recordingRetentionDays) },
      { id: 'AbandonedUploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Only this app reads and writes it, and logs each recording, voicemail and transcript that it stores',
  });
  return bucket;
}
