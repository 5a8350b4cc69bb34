package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/infra/app/customer"
)

// regions returns the order for each region of the deployment: its own region and the
// replica's.
func (o order) regions() []order {
	all := []order{o}
	if o.Replicated() {
		there := o
		there.Settings = o.There()
		all = append(all, there)
	}
	return all
}

// lookUp returns the context value with the resources of the replica and of restored tables, or nothing without them.
func lookUp(ctx context.Context, o order) ([]string, error) {
	var found customer.Found
	var err error
	_, restored := o.Restored()
	switch {
	case o.Standby():
		found, err = replicas(ctx, o)
	case o.Replicated():
		found.SecretsKey, err = secretsKey(ctx, o)
	case !restored:
		return nil, nil
	}
	if err == nil && restored && !o.Standby() {
		err = findRestored(ctx, o, &found)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(found)
	return []string{"-c", "found=" + string(text)}, err
}

// secretsKey returns the ARN of the primary key of customers' secrets, or "" before the first
// deployment.
func secretsKey(ctx context.Context, o order) (string, error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return "", err
	}
	out, err := kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(o.SecretsKeyAlias())})
	var none *kmstypes.NotFoundException
	switch {
	case errors.As(err, &none):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look up the key %s in %s: %w", o.SecretsKeyAlias(), o.Region, err)
	case out.KeyMetadata.MultiRegionConfiguration == nil:
		return "", fmt.Errorf("the key %s is of %s alone: a replica is part of the first deployment of a stage, see "+
			"docs/recovery.md", o.SecretsKeyAlias(), o.Region)
	}
	// The replica key names its primary key even if the primary's region is lost.
	return aws.ToString(out.KeyMetadata.MultiRegionConfiguration.PrimaryKey.Arn), nil
}

// replicas looks up the resources that the service needs in the replica's region. It makes no
// calls to the other region, which may be lost.
func replicas(ctx context.Context, o order) (found customer.Found, err error) {
	cfg, err := o.config(ctx)
	if err != nil {
		return found, err
	}
	if found.SecretsKey, err = secretsKey(ctx, o); err != nil {
		return found, err
	}
	tables := dynamodb.NewFromConfig(cfg)
	for name, stream := range map[string]*string{"state": &found.StateStream, "audit": &found.AuditStream} {
		out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(o.SharedTable(name))})
		if err != nil {
			return found, fmt.Errorf("look up the replica of the table %s in %s: %w", o.SharedTable(name),
				o.Region, err)
		}
		*stream = aws.ToString(out.Table.LatestStreamArn)
	}
	secrets := secretsmanager.NewFromConfig(cfg)
	found.Secrets = map[string]string{}
	for _, name := range customer.SharedSecrets {
		out, err := secrets.DescribeSecret(ctx,
			&secretsmanager.DescribeSecretInput{SecretId: aws.String(o.SharedSecret(name))})
		if err != nil {
			return found, fmt.Errorf("look up the replica of the secret %s in %s: %w", o.SharedSecret(name),
				o.Region, err)
		}
		if home := aws.ToString(out.PrimaryRegion); home != "" && home != o.Region {
			return found, fmt.Errorf("the secret %s in %s cannot be rotated, as it is a replica of that in %s: make "+
				"it one of its own by `aws secretsmanager stop-replication-to-replica --region %s --secret-id %s`",
				o.SharedSecret(name), o.Region, home, o.Region, o.SharedSecret(name))
		}
		found.Secrets[name] = aws.ToString(out.ARN)
	}
	return found, nil
}

// shareKey makes the replica of the key of customers' secrets after the first deployment, which
// makes the key.
func shareKey(ctx context.Context, o order) error {
	if !o.Replicated() {
		return nil
	}
	there := o
	there.Settings = o.There()
	cfg, err := there.config(ctx)
	if err != nil {
		return err
	}
	_, err = kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: aws.String(o.SecretsKeyAlias())})
	var none *kmstypes.NotFoundException
	if !errors.As(err, &none) {
		return err
	}
	return cdk(ctx, o, "deploy", o.There().Name()+"-data", "--exclusively", "--require-approval", o.approval)
}
