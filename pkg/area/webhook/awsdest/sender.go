// Package awsdest sends webhooks to queues and event buses in the AWS accounts of customers, with a role of the
// customer. Only the function deliver assumes the roles. Start with Sender.
package awsdest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/area/webhook"
)

// source is the source of the events that we put on a customer's bus.
const source = "content-automation.webhooks"

// idlePerHost is the number of connections to one endpoint of AWS that are kept for reuse.
const idlePerHost = 64

// Sender sends to AWS accounts. It is safe for concurrent use and keeps the credentials of roles: make one and keep it.
// Nothing is made before it is needed, because most functions never send to AWS.
type Sender struct {
	cfg      aws.Config
	queues   func() *sqs.Client
	buses    func() *eventbridge.Client
	sessions *sessions
}

var _ webhook.AWSSender = (*Sender)(nil)

// New makes a sender from the configuration of the function, whose role assumes the roles of the customers.
func New(cfg aws.Config) *Sender {
	to := cfg.Copy()
	// The attempt has a time-out of its own, and is repeated by its schedule.
	to.Retryer = reconnect
	client := sync.OnceValue(func() *awshttp.BuildableClient {
		return awshttp.NewBuildableClient().WithTransportOptions(
			func(t *http.Transport) { t.MaxIdleConnsPerHost = idlePerHost })
	})
	return &Sender{
		cfg: cfg,
		queues: sync.OnceValue(func() *sqs.Client {
			to := to
			to.HTTPClient = client()
			return sqs.NewFromConfig(
				to)
		}),
		buses: sync.OnceValue(func() *eventbridge.Client {
			to := to
			to.HTTPClient = client()
			return eventbridge.NewFromConfig(to)
		}),
		sessions: newSessions(cfg),
	}
}

// reconnect returns a retryer that repeats only a call whose connection turned out to be
// dead, as kept connections are after a function was frozen.
func reconnect() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 2
		o.Retryables = []retry.IsErrorRetryable{retry.NoRetryCanceledError{}, retry.RetryableConnectionError{}}
	})
}

// Send makes one attempt.
func (s *Sender) Send(ctx context.Context, to webhook.AWSTarget, e webhook.SignedEvent) webhook.AWSAnswer {
	target, err := arn.Parse(to.ARN)
	if err != nil {
		return failureAnswer(to, whileSending, err) // webhook has checked it when it was saved
	}
	credentials := s.sessions.credentials(to)
	if _, err := credentials.Retrieve(ctx); err != nil {
		return failureAnswer(to, whileAssuming, err)
	}
	var answer webhook.AWSAnswer
	if to.Kind == webhook.KindEventBridge {
		answer, err = s.put(ctx, target, credentials, e)
	} else {
		answer, err = s.enqueue(ctx, target, credentials, e)
	}
	if err != nil {
		if forgotten(err) {
			credentials.Invalidate()
		}
		return failureAnswer(to, whileSending, err)
	}
	return answer
}

// enqueue sends the event to a queue. Its attributes are the headers that a
// request would have, so that it is verified in the same way.
func (s *Sender) enqueue(ctx context.Context, queue arn.ARN, role aws.CredentialsProvider,
	e webhook.SignedEvent) (webhook.AWSAnswer, error) {
	endpoint, err := sqs.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx,
		sqs.EndpointParameters{Region: &queue.Region, Endpoint: s.cfg.BaseEndpoint})
	if err != nil {
		return webhook.AWSAnswer{}, err
	}
	attributes := map[string]sqstypes.MessageAttributeValue{}
	for name, value := range e.Headers {
		attributes[name] = sqstypes.MessageAttributeValue{DataType: aws.String("String"),
			StringValue: aws.String(value)}
	}
	out, err := s.queues().SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl:          aws.String(endpoint.URI.JoinPath(queue.AccountID, queue.Resource).String()),
		MessageBody:       aws.String(string(e.Body)),
		MessageAttributes: attributes,
	}, func(o *sqs.Options) { o.Region, o.Credentials = queue.Region, role })
	if err != nil {
		return webhook.AWSAnswer{}, err
	}
	return successAnswer(out.ResultMetadata, map[string]string{"MessageId": aws.ToString(out.MessageId)}), nil
}

// put puts the event on a bus.
func (s *Sender) put(ctx context.Context, bus arn.ARN, role aws.CredentialsProvider,
	e webhook.SignedEvent) (webhook.AWSAnswer, error) {
	out, err := s.buses().PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{
		EventBusName: aws.String(bus.String()),
		Source:       aws.String(source),
		DetailType:   aws.String(e.Type),
		Detail:       aws.String(string(e.Body)),
		Time:         &e.At,
	}}}, func(o *eventbridge.Options) { o.Region, o.Credentials = bus.Region, role })
	switch {
	case err != nil:
		return webhook.AWSAnswer{}, err
	case out.FailedEntryCount > 0 && len(out.Entries) > 0:
		entry := out.Entries[0]
		return webhook.AWSAnswer{}, &entryError{status(out.ResultMetadata), aws.ToString(entry.ErrorCode),
			aws.ToString(entry.ErrorMessage)}
	case len(out.Entries) > 0:
		return successAnswer(out.ResultMetadata, map[string]string{"EventId": aws.ToString(out.Entries[0].EventId)}),
			nil
	default:
		return webhook.AWSAnswer{}, &entryError{status: status(out.ResultMetadata)}
	}
}

// successAnswer is the answer that the event was taken.
func successAnswer(m middleware.Metadata, names map[string]string) webhook.AWSAnswer {
	return webhook.AWSAnswer{Status: status(m), Body: show(names)}
}

// status returns the HTTP status of an answer.
func status(m middleware.Metadata) *int {
	if r, ok := awsmiddleware.GetRawResponse(m).(*smithyhttp.Response); ok {
		return &r.StatusCode
	}
	return nil
}

// show formats the members of an answer for the log of the delivery.
func show(members map[string]string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(members) // texts have no error
	return strings.TrimSpace(b.String())
}

const (
	// sessionTime is the lifetime of the credentials of a role: the shortest that AWS allows.
	sessionTime = 15 * time.Minute
	// refresh is the time before their end at which credentials are replaced, so that none ends on the way.
	refresh = 3 * time.Minute
	// maxSessions bounds the roles whose credentials are kept.
	maxSessions = 1000
)

// sessions are the credentials of the roles that were assumed.
type sessions struct {
	client func() *sts.Client

	mu sync.Mutex
	of map[session]*aws.CredentialsCache
}

// session identifies credentials. A customer that names the same role has a different
// external id, and so different credentials.
type session struct{ role, externalID, name string }

func newSessions(cfg aws.Config) *sessions {
	return &sessions{client: sync.OnceValue(func() *sts.Client { return sts.NewFromConfig(cfg) }),
		of: map[session]*aws.CredentialsCache{}}
}

// credentials returns the credentials of a webhook's role. They are requested lazily, once for all concurrent attempts.
func (s *sessions) credentials(to webhook.AWSTarget) *aws.CredentialsCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := session{to.RoleARN, to.ExternalID, to.Session}
	if kept := s.of[key]; kept != nil {
		return kept
	}
	if len(s.of) >= maxSessions {
		clear(s.of)
	}
	provider := stscreds.NewAssumeRoleProvider(s.client(), to.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.ExternalID, o.RoleSessionName, o.Duration = &to.ExternalID, to.Session, sessionTime
	})
	s.of[key] = aws.NewCredentialsCache(provider, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = refresh })
	return s.of[key]
}

// phase is the step at which an attempt ended.
type phase int

const (
	whileAssuming phase = iota // the role
	whileSending
)

// entryError says that a bus did not take the event, though the call succeeded.
type entryError struct {
	status        *int
	code, message string
}

var _ smithy.APIError = (*entryError)(nil)

// Error implements error.
func (e *entryError) Error() string { return "awsdest: entry refused: " + e.code + ": " + e.message }

// ErrorCode implements smithy.APIError.
func (e *entryError) ErrorCode() string { return e.code }

// ErrorMessage implements smithy.APIError.
func (e *entryError) ErrorMessage() string { return e.message }

// ErrorFault implements smithy.APIError.
func (e *entryError) ErrorFault() smithy.ErrorFault { return smithy.FaultUnknown }

// failureAnswer returns the answer of a failed attempt: the error of AWS, and the advice to the owner of the
// destination.
func failureAnswer(to webhook.AWSTarget, p phase, err error) webhook.AWSAnswer {
	var answer webhook.AWSAnswer
	var response *smithyhttp.ResponseError
	var entry *entryError
	switch {
	case errors.As(err, &entry):
		answer.Status = entry.status
	case errors.As(err, &response) && response.HTTPStatusCode() > 0: // 0: no answer came
		status := response.HTTPStatusCode()
		answer.Status = &status
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		// The error describes our side of the connection, which callers do not see.
		slog.Warn("AWS did not answer", "destination", to.ARN, "webhook_id", to.Session, "error", err)
		answer.Error = whyNoAnswer(err)
		return answer
	}
	answer.Body = show(map[string]string{"Code": api.ErrorCode(), "Message": api.ErrorMessage()})
	answer.Error = explain(to, p, api.ErrorCode(), api.ErrorMessage())
	return answer
}

// whyNoAnswer says why there is no answer to understand.
func whyNoAnswer(err error) string {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return "AWS did not answer in time."
	}
	return "AWS could not be reached, or its answer was not understood."
}

// forgotten reports whether AWS no longer knows the credentials, as after the role was deleted and created again.
func forgotten(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{
		"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "InvalidAccessKeyId",
		"UnrecognizedClientException", "InvalidToken",
	}, api.ErrorCode())
}

// explain returns the advice to the owner of the destination.
func explain(to webhook.AWSTarget, p phase, code, message string) string {
	says := func(format string, args ...any) string { return fmt.Sprintf(format, args...) + " (" + code + ")" }
	_, throttled := retry.DefaultThrottleErrorCodes[code]
	bus := to.Kind == webhook.KindEventBridge
	switch {
	case code == "":
		return "AWS did not say whether the event was taken."
	case throttled || code == "KmsThrottled":
		return says("AWS accepts no more calls for now: a quota of the account is used up.")
	case p == whileAssuming && denied(code):
		return says("The role %s may not be assumed. Check that it exists, and that its trust policy allows "+
			"sts:AssumeRole to the webhook's principal_arn with its external_id as sts:ExternalId.", to.RoleARN)
	case p == whileAssuming && code == "RegionDisabledException":
		return says("The account of the role %s does not accept sessions of this service's region. Activate STS for "+
			"it.", to.RoleARN)
	case p == whileAssuming:
		return says("The role %s could not be assumed.", to.RoleARN)
	case strings.HasPrefix(code, "Kms") || strings.HasPrefix(code, "KMS."):
		return says("The key that encrypts %s cannot be used. Check that it is enabled, and allow the role "+
			"kms:GenerateDataKey and kms:Decrypt on it.", to.ARN)
	case denied(code) && bus:
		return says("The role may not put events on the bus. Allow it events:PutEvents on %s.", to.ARN)
	case denied(code):
		return says("The role may not send to the queue. Allow it sqs:SendMessage on %s; if a KMS key of yours "+
			"encrypts the queue, also kms:GenerateDataKey and kms:Decrypt on that key.", to.ARN)
	case missing(code) && bus:
		return says("There is no event bus %s. Make it, or change the webhook's destination.", to.ARN)
	case missing(code):
		return says("There is no queue %s, or the role may not see it. Make it, allow the role sqs:SendMessage on "+
			"it, or change the webhook's destination.", to.ARN)
	case tooLarge(code, message):
		return says("The event is larger than %s takes. Read it by GET /v1/events/{event_id}.", to.ARN)
	default:
		return says("AWS refused the event.")
	}
}

func denied(code string) bool {
	return slices.Contains([]string{"AccessDenied", "AccessDeniedException", "NotAuthorized",
		"NotAuthorizedForSourceException"}, code)
}

func missing(code string) bool {
	return slices.Contains([]string{
		"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "QueueDeletedRecently",
		"AWS.SimpleQueueService.QueueDeletedRecently",
		"ResourceNotFoundException", "ResourceNotFound",
	}, code)
}

// tooLarge knows the refusals of an event for its size, for which AWS has no code.
func tooLarge(code, message string) bool {
	return strings.HasPrefix(code, "InvalidParameterValue") && strings.Contains(message, "shorter than") ||
		strings.HasPrefix(code, "Validation") && strings.Contains(message, "size")
}
