package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	"github.com/aws/aws-sdk-go-v2/service/bedrock/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	stacktypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock/lives"
	"github.com/content-automation/api/pkg/generate/catalog"
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

// denied are the error codes of calls that the credentials do not permit.
var denied = []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}

// lookEvery is the time between two reads of the stack.
const lookEvery = 3 * time.Second

// Takes implements Account. AWS lists no quota for the memory of functions, so it makes a
// function to find out. CloudFormation makes it, as in a deployment, and removes it and its
// role even if this command is interrupted and repeated. Nothing calls the function, and its
// role has no permissions.
func (a AWS) Takes(ctx context.Context, stack, boundary string, memory int) (string, error) {
	if a.Config.BaseEndpoint != nil {
		return "", ErrUnsupported // An emulated AWS has no such limit.
	}
	template, err := probe(boundary, memory)
	if err != nil {
		return "", err
	}
	client := cloudformation.NewFromConfig(a.Config)
	// Remove the stack of an earlier command that was interrupted.
	if err := a.remove(ctx, client, stack); err != nil {
		return "", refused(err)
	}
	made, err := client.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &stack, TemplateBody: &template,
		Capabilities: []stacktypes.Capability{stacktypes.CapabilityCapabilityIam},
		OnFailure:    stacktypes.OnFailureDelete, TimeoutInMinutes: aws.Int32(5),
	})
	if err != nil {
		return "", refused(err)
	}
	defer func() {
		_, _ = client.DeleteStack(context.WithoutCancel(ctx), &cloudformation.DeleteStackInput{StackName: made.StackId})
	}()
	status, err := a.settled(ctx, client, aws.ToString(made.StackId), stacktypes.StackStatusCreateInProgress)
	if err != nil || status == stacktypes.StackStatusCreateComplete {
		return "", err
	}
	return why(ctx, client, aws.ToString(made.StackId))
}

// probe returns a template with a function that has the memory.
func probe(boundary string, memory int) (string, error) {
	type object = map[string]any
	role := object{"AssumeRolePolicyDocument": object{"Version": "2012-10-17", "Statement": []object{{
		"Effect": "Allow", "Principal": object{"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole",
	}}}}
	if boundary != "" {
		role["PermissionsBoundary"] = boundary
	}
	text, err := json.Marshal(object{
		"Description": "Shows whether AWS takes a function of so much memory; make preflight removes it",
		"Resources": object{
			"Role": object{"Type": "AWS::IAM::Role", "Properties": role},
			"Function": object{"Type": "AWS::Lambda::Function", "Properties": object{
				"Runtime": "python3.13", "Handler": "index.handler",
				"Code":       object{"ZipFile": "def handler(event, context): pass"},
				"MemorySize": memory, "Role": object{"Fn::GetAtt": []string{"Role", "Arn"}},
			}},
		},
	})
	return string(text), err
}

// remove removes a stack, if there is one.
func (a AWS) remove(ctx context.Context, client *cloudformation.Client, name string) error {
	_, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		if errors.Is(a.known(err, "ValidationError"), ErrMissing) {
			return nil
		}
		return err
	}
	if _, err := client.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &name}); err != nil {
		return err
	}
	_, err = a.settled(ctx, client, name, stacktypes.StackStatusDeleteInProgress)
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// settled waits until a stack has another status, and returns the new status.
func (a AWS) settled(ctx context.Context, client *cloudformation.Client, name string,
	while stacktypes.StackStatus) (stacktypes.StackStatus, error) {
	for {
		out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return "", a.known(err, "ValidationError")
		}
		if len(out.Stacks) == 0 {
			return "", ErrMissing
		}
		if status := out.Stacks[0].StackStatus; status != while {
			return status, nil
		}
		if err := a.Wait(ctx, lookEvery); err != nil {
			return "", err
		}
	}
}

// why returns the first reason why a stack could not be made. The latest events come first.
func why(ctx context.Context, client *cloudformation.Client, stack string) (string, error) {
	reason := "CloudFormation does not say why"
	pages := cloudformation.NewDescribeStackEventsPaginator(client,
		&cloudformation.DescribeStackEventsInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", refused(err)
		}
		for _, e := range page.StackEvents {
			if e.ResourceStatus == stacktypes.ResourceStatusCreateFailed && aws.ToString(e.ResourceStatusReason) != "" {
				reason = aws.ToString(e.ResourceStatusReason)
			}
		}
	}
	return reason, nil
}

// refused returns ErrDenied if the credentials do not permit the call.
func refused(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && slices.Contains(denied, api.ErrorCode()) {
		return errors.Join(ErrDenied, err)
	}
	return err
}

// aboutMemory reports whether AWS refuses a function because of its memory.
func aboutMemory(reason string) bool { return strings.Contains(strings.ToLower(reason), "memorysize") }

// Quota is a quota of an AWS account, as Service Quotas names it.
type Quota struct {
	Name  string
	Value float64
}

// Quotas implements Account.
func (a AWS) Quotas(ctx context.Context, service string) (all []Quota, err error) {
	if a.Config.BaseEndpoint != nil {
		return nil, ErrUnsupported // An emulated AWS has no quotas.
	}
	pages := servicequotas.NewListServiceQuotasPaginator(servicequotas.NewFromConfig(a.Config),
		&servicequotas.ListServiceQuotasInput{ServiceCode: &service})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, a.known(err)
		}
		for _, q := range page.Quotas {
			all = append(all, Quota{aws.ToString(q.QuotaName), aws.ToFloat64(q.Value)})
		}
	}
	return all, nil
}

// requests stands in the names of the quotas of Bedrock that count calls, such as "On-demand model inference requests
// per minute for Amazon Nova Lite" and "Cross-region model inference requests per minute for Anthropic Claude Haiku
// 4.5": https://docs.aws.amazon.com/general/latest/gr/bedrock.html.
const requests = "requests per minute for "

// LimitedServices are the services of AWS whose quotas limit models. They are named like their providers.
var LimitedServices = []string{"bedrock", "polly"}

// speech stands in the names of the quotas of Polly that count calls: those of SynthesizeSpeech a second, by the engine
// of the voices. Those of calls in progress and of bursts are other quotas:
// https://docs.aws.amazon.com/polly/latest/dg/limits.html.
const speech = "synthesizespeech"

// perMinute returns the calls of a model a minute that a quota permits, or 0 for a quota of something else.
func perMinute(m catalog.Model, q Quota) int {
	if m.Provider == "polly" {
		name := strings.ToLower(strings.ReplaceAll(q.Name, " ", "-"))
		if !strings.Contains(name, speech) || !strings.Contains(name, strings.ToLower(m.ProviderModel)) ||
			strings.Contains(name, "concurren") || strings.Contains(name, "burst") {
			return 0
		}
		return int(q.Value * 60)
	}
	kind, name, ok := strings.Cut(q.Name, requests)
	across := strings.Contains(strings.ToLower(kind), "cross-region")
	if !ok || !names(name, m.Name) || across != (m.ProviderOptions["profiles"] != "") {
		return 0
	}
	return int(q.Value)
}

// Limits returns the calls a minute that the quotas of an account let models take, by their ids, and the ids of those
// that no quota names. A model of Bedrock that is called by an inference profile takes the quota across regions, and
// another one that on demand.
func Limits(models []catalog.Model, quotas []Quota) (limits map[string]int, unknown []string) {
	limits = map[string]int{}
	for _, m := range models {
		most := 0
		for _, q := range quotas {
			most = max(most, perMinute(m, q))
		}
		if most == 0 {
			unknown = append(unknown, m.ID)
			continue
		}
		limits[m.ID] = most
	}
	return limits, unknown
}

// names reports whether the name of a quota is that of a model: the same words at its end, after the maker, and a
// version that may follow.
func names(quota, model string) bool {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
	}
	have, want := words(quota), words(model)
	version := func(word string) bool { return unicode.IsDigit([]rune(strings.TrimPrefix(word, "v") + ".")[0]) }
	if n := len(have); n > 0 && !slices.Contains(want, have[n-1]) && version(have[n-1]) {
		have = have[:n-1]
	}
	// At most two words come before: "Anthropic", or "Stability AI".
	before := len(have) - len(want)
	return before >= 0 && before <= 2 && slices.Equal(have[before:], want)
}

// modelsOf returns the available models of a provider on AWS for a customer.
func (r run) modelsOf(provider string) []catalog.Model {
	return slices.DeleteFunc(catalog.Models(catalog.Filter{Provider: provider}), func(m catalog.Model) bool {
		return m.State != catalog.Available || !m.In(r.Region, r.GlobalProfiles)
	})
}

// quotas shows what Bedrock and Polly take a minute. Calls beyond that are throttled, unless there is a limit of the
// same.
func (r run) quotas(ctx context.Context) (finding, error) {
	var said, unknown []string
	for _, service := range LimitedServices {
		if !slices.Contains(r.Providers, service) {
			continue
		}
		quotas, err := r.Quotas(ctx, service)
		if err != nil {
			return finding{}, err
		}
		limits, others := Limits(r.modelsOf(service), quotas)
		for _, m := range r.modelsOf(service) {
			if n := limits[m.ID]; n > 0 {
				said = append(said, fmt.Sprintf("%s %d", m.ID, n))
			}
		}
		unknown = append(unknown, others...)
	}
	if len(said)+len(unknown) == 0 {
		return found(Skipped, "the providers of %s do not include %s", r.Customer, strings.Join(LimitedServices, " or "))
	}
	text := "calls a minute: " + strings.Join(said, ", ") + ". `admin provider quotas` limits each model to these"
	if len(unknown) > 0 {
		return found(Warning, "%s. No quota names %s: look them up, and limit each by `admin provider limit`", text,
			strings.Join(unknown, ", "))
	}
	return found(OK, "%s", text)
}
