package preflight

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	"github.com/aws/aws-sdk-go-v2/service/bedrock/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock/lives"
)

// AWS implements Account with an AWS configuration.
type AWS struct {
	Config aws.Config
	// Wait waits between two reads of a stack.
	Wait func(context.Context, time.Duration) error
}

// unsupported are the error codes of operations that a local AWS does not support.
var unsupported = []string{"InvalidAction", "NotImplemented", "UnknownOperation", "UnknownOperationException",
	"UnsupportedOperation"}

// known translates an error of AWS into one of Account. missing are the codes of resources
// that do not exist.
func (a AWS) known(err error, missing ...string) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	var response *awshttp.ResponseError
	local := a.Config.BaseEndpoint != nil
	switch {
	case slices.Contains(missing, api.ErrorCode()):
		return ErrMissing
	case local && (slices.Contains(unsupported, api.ErrorCode()) || errors.As(err, &response) &&
		response.HTTPStatusCode() == http.StatusNotImplemented):
		return ErrUnsupported
	}
	return err
}

// ID implements Account.
func (a AWS) ID(ctx context.Context) (string, error) {
	out, err := sts.NewFromConfig(a.Config).GetCallerIdentity(ctx, nil)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Account), nil
}

// Outputs implements Account.
func (a AWS) Outputs(ctx context.Context, stack string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(a.Config).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil {
		// CloudFormation has no specific code for a stack that does not exist.
		return nil, a.known(err, "ValidationError")
	}
	outputs := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return outputs, nil
}

// Sends implements Account.
func (a AWS) Sends(ctx context.Context, domain string) (verified, production bool, err error) {
	client := sesv2.NewFromConfig(a.Config)
	identity, err := client.GetEmailIdentity(ctx, &sesv2.GetEmailIdentityInput{EmailIdentity: &domain})
	if err != nil {
		return false, false, a.known(err, "NotFoundException")
	}
	account, err := client.GetAccount(ctx, &sesv2.GetAccountInput{})
	if err != nil {
		return false, false, a.known(err)
	}
	return identity.VerifiedForSendingStatus, account.ProductionAccessEnabled, nil
}

// Concurrency implements Account.
func (a AWS) Concurrency(ctx context.Context) (limit, unreserved int, err error) {
	out, err := lambda.NewFromConfig(a.Config).GetAccountSettings(ctx, nil)
	if err != nil {
		return 0, 0, a.known(err)
	}
	return int(out.AccountLimit.ConcurrentExecutions),
		int(aws.ToInt32(out.AccountLimit.UnreservedConcurrentExecutions)), nil
}

// Memory implements Account.
func (a AWS) Memory(ctx context.Context, function string) (int, error) {
	out, err := lambda.NewFromConfig(a.Config).GetFunctionConfiguration(ctx,
		&lambda.GetFunctionConfigurationInput{FunctionName: &function})
	if err != nil {
		return 0, a.known(err, "ResourceNotFoundException")
	}
	return int(aws.ToInt32(out.MemorySize)), nil
}

// Model implements Account.
func (a AWS) Model(ctx context.Context, id string) (string, error) {
	if a.Config.BaseEndpoint != nil {
		return "", ErrUnsupported // An emulated AWS does not have the models of the region.
	}
	out, err := bedrock.NewFromConfig(a.Config).GetFoundationModelAvailability(ctx,
		&bedrock.GetFoundationModelAvailabilityInput{ModelId: &id})
	switch {
	case err != nil:
		return "", a.known(err, "ResourceNotFoundException", "ValidationException")
	case out.RegionAvailability == types.RegionAvailabilityNotAvailable:
		return "", ErrMissing
	case out.AgreementAvailability != nil && out.AgreementAvailability.Status != types.AgreementStatusAvailable:
		return "the agreement is " + string(out.AgreementAvailability.Status), nil
	case out.AuthorizationStatus != types.AuthorizationStatusAuthorized:
		return string(out.AuthorizationStatus), nil
	case out.EntitlementAvailability != types.EntitlementAvailabilityAvailable:
		return "no entitlement", nil
	}
	return "", nil
}

// Lives implements Account.
func (a AWS) Lives(ctx context.Context) (map[string]provider.Life, error) {
	if a.Config.BaseEndpoint != nil {
		return nil, ErrUnsupported // An emulated AWS does not have the models of the region.
	}
	all, err := lives.Read(ctx, a.Config)
	if err != nil {
		return nil, a.known(err)
	}
	return all, nil
}

// Secret implements Account.
func (a AWS) Secret(ctx context.Context, arn string) (string, error) {
	out, err := secretsmanager.NewFromConfig(a.Config).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", a.known(err)
	}
	return aws.ToString(out.SecretString), nil
}

// Certificate implements Account.
func (a AWS) Certificate(ctx context.Context, arn string) (string, error) {
	out, err := acm.NewFromConfig(a.Config).DescribeCertificate(ctx,
		&acm.DescribeCertificateInput{CertificateArn: &arn})
	if err != nil {
		return "", a.known(err, "ResourceNotFoundException")
	}
	return string(out.Certificate.Status), nil
}

// Pending implements Account.
func (a AWS) Pending(ctx context.Context, topic string) ([]string, error) {
	var pending []string
	pages := sns.NewListSubscriptionsByTopicPaginator(sns.NewFromConfig(a.Config),
		&sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, a.known(err)
		}
		for _, s := range page.Subscriptions {
			if aws.ToString(s.SubscriptionArn) == "PendingConfirmation" {
				pending = append(pending, aws.ToString(s.Endpoint))
			}
		}
	}
	return pending, nil
}

// Trails implements Account.
func (a AWS) Trails(ctx context.Context) (bool, error) {
	client := cloudtrail.NewFromConfig(a.Config)
	// Shadow trails are those of other regions and of the organization that log here, too.
	out, err := client.DescribeTrails(ctx, &cloudtrail.DescribeTrailsInput{IncludeShadowTrails: aws.Bool(true)})
	if err != nil {
		return false, a.known(err)
	}
	for _, t := range out.TrailList {
		status, err := client.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: t.TrailARN})
		if err != nil {
			return false, a.known(err)
		}
		if aws.ToBool(status.IsLogging) {
			return true, nil
		}
	}
	return false, nil
}

// LogRole implements Account.
func (a AWS) LogRole(ctx context.Context) (string, error) {
	out, err := apigateway.NewFromConfig(a.Config).GetAccount(ctx, nil)
	if err != nil {
		return "", a.known(err)
	}
	return aws.ToString(out.CloudwatchRoleArn), nil
}
