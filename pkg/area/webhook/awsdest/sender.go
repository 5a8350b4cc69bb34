// Package awsdest sends webhooks to queues and event buses in the AWS accounts of customers, with a role of the
// customer. Only the function deliver assumes the roles. Start with Sender.
package awsdest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
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
		return failed(to, whileSending, err) // webhook has checked it when it was saved
	}
	credentials := s.sessions.credentials(to)
	if _, err := credentials.Retrieve(ctx); err != nil {
		return failed(to, whileAssuming, err)
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
		return failed(to, whileSending, err)
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
	return taken(out.ResultMetadata, map[string]string{"MessageId": aws.ToString(out.MessageId)}), nil
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
		return taken(out.ResultMetadata, map[string]string{"EventId": aws.ToString(out.Entries[0].EventId)}), nil
	default:
		return webhook.AWSAnswer{}, &entryError{status: status(out.ResultMetadata)}
	}
}

// taken is the answer that the event was taken.
func taken(m middleware.Metadata, names map[string]string) webhook.AWSAnswer {
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
