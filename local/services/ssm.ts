import { localAccount } from '../assembly/template.ts';
import { type AwsService, awsError, awsJson, UnknownOperationError } from './aws-service.ts';

/** SSM SecureStrings, made by hand per region as in AWS: region -> name -> value. */
export type ParameterValues = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** SSM Parameter Store with the one call that functions make. */
export function createParameterStore(values: ParameterValues): AwsService {
  return {
    needs({ operation, region, body }) {
      if (operation !== 'GetParameter') throw new UnknownOperationError('SSM', operation);
      const path = String(body.Name).replace(/^\//, '');
      return [
        { action: 'ssm:GetParameter', resource: `arn:aws:ssm:${region}:${localAccount}:parameter/${path}` },
      ];
    },
    async handle({ region, body }) {
      const name = String(body.Name);
      const value = values.get(region)?.get(name);
      if (value === undefined) return awsError(400, 'ParameterNotFound', '');
      return awsJson({
        Parameter: {
          Name: name,
          Type: 'SecureString',
          Value: body.WithDecryption === true ? value : 'kms:alias/aws/ssm:encrypted',
          Version: 1,
          DataType: 'text',
        },
      });
    },
  };
}
