package webhook

import (
	"bytes"
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	plain "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
)

// RolePrefix begins the names of all roles that deliver may assume: its own permission ends there.
const RolePrefix = "content-automation-"

var (
	_ = format.Define("delivery-failure", format.Format{
		Values: format.Words("exhausted gone webhook_disabled webhook_deleted event_expired not_permitted")})
	_ = format.Define("delivery-wait", format.Format{
		Values: format.Words("dispatch first_attempt response retry redelivery circuit_breaker capacity")})
	_ = format.Define("event-pattern", format.Format{Fewest: 1, Many: 50, Distinct: true})
	_ = format.Define("role-arn", format.Format{Shortest: 1, Longest: 256,
		Example: "arn:aws:iam::111122223333:role/content-automation-events"})
	_ = format.Define("target-arn", format.Format{Shortest: 1, Longest: 512,
		Example: "arn:aws:sqs:eu-central-1:111122223333:content-events"})
)

// targetGuide explains in the reference how a destination in AWS is made.
const targetGuide = "With a `destination`, events are sent to a standard SQS queue or an EventBridge bus in your own " +
	"AWS account. Create the webhook first. Then create the role that you named, with the `principal_arn` and the " +
	"`external_id` of this response in its trust policy:\n\n```json\n" + `{"Version": "2012-10-17", "Statement": [{
  "Effect": "Allow", "Action": "sts:AssumeRole",
  "Principal": {"AWS": "<principal_arn>"},
  "Condition": {"StringEquals": {"sts:ExternalId": "<external_id>"}}
}]}` + "\n```\n\nand with this permission. For a bus, use the action `events:PutEvents`. If a " +
	"KMS key of yours encrypts the queue, also allow `kms:GenerateDataKey` and `kms:Decrypt` on that key:\n\n" +
	"```json\n" + `{"Version": "2012-10-17", "Statement": [{
  "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "<arn>"
}]}` + "\n```\n\nUntil then, attempts fail, report what is missing, and are retried. " +
	"The body of a message is the event; the headers of a webhook, such as `webhook-id`, are attributes. Verify it " +
	"like a request. On a bus, `detail` is the event, `detail-type` its type, and `source` is " +
	"`content-automation.webhooks`. Retries, the log of deliveries, replay and disabling after 5 days of failures " +
	"work as for a `url`."

// targetBody is a new destination in a request.
type destinationBody struct {
	// Kind of the destination. eventbridge: an event bus. sqs: a standard queue.
	Kind string `json:"kind" enum:"eventbridge,sqs"`
	// ARN of the event bus or queue.
	ARN string `json:"arn" format:"target-arn"`
	// ARN of a role in the same account. Its name must begin with content-automation-.
	RoleARN string `json:"role_arn" format:"role-arn"`
}

type destinationPatch struct {
	// ARN of another event bus or queue of the same type.
	ARN string `json:"arn,omitempty" format:"target-arn"`
	// ARN of a role in the same account. Its name must begin with content-automation-.
	RoleARN string `json:"role_arn,omitempty" format:"role-arn"`
}

// externalIDBytes is the length of the randomness in an external id.
const externalIDBytes = 16

// newTarget returns a destination with an external id of its own.
func (s *Service) newTarget(body destinationBody) (*Target, error) {
	t := &Target{Kind: body.Kind, ARN: body.ARN, RoleARN: body.RoleARN}
	if err := s.aim(t); err != nil {
		return nil, err
	}
	random := make([]byte, externalIDBytes)
	if _, err := io.ReadFull(s.random, random); err != nil {
		return nil, fmt.Errorf("webhook: read randomness: %w", err)
	}
	t.ExternalID = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random)
	return t, nil
}

// aim completes a destination by its ARN and its role, or refuses them.
func (s *Service) aim(t *Target) error {
	at, err := parseTarget(t.Kind, t.ARN, s.principal.Partition)
	if err != nil {
		return err
	}
	// The role is in the same account, or checkRole has refused it.
	if at.AccountID == s.principal.AccountID {
		return errs.Invalid("/destination/arn", "must be in an AWS account of your own, not in the account of this "+
			"service, %s", at.AccountID)
	}
	if err := checkRole(t.RoleARN, at); err != nil {
		return err
	}
	t.Region, t.PrincipalARN = at.Region, s.principal.String()
	return nil
}

const (
	accountShape = `^[0-9]{12}$`
	// A region becomes part of a host name.
	regionShape = `^[a-z]{2,5}(-[a-z]{2,12}){1,3}-[0-9]{1,2}$`
	queueShape  = `^[A-Za-z0-9_-]{1,80}$`
	busShape    = `^event-bus/[A-Za-z0-9_./-]{1,256}$`
	// A role below a path is not among those that deliver may assume.
	roleShape = `^role/` + RolePrefix + `[A-Za-z0-9_+=,.@-]{1,45}$`
)

// matches compiles the pattern at each use: before main it would delay the start of
// every function that links it, and few webhooks have a destination.
func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// parseTarget reads the ARN of a queue or an event bus.
func parseTarget(of, raw, partition string) (arn.ARN, error) {
	noun, service, named, example := "a queue", "sqs", queueShape,
		"arn:aws:sqs:eu-central-1:111122223333:content-events"
	if of == KindEventBridge {
		noun, service, named, example = "an event bus", "events", busShape,
			"arn:aws:events:eu-central-1:111122223333:event-bus/content"
	}
	invalid := func(format string, args ...any) (arn.ARN, error) {
		return arn.ARN{}, errs.Invalid("/destination/arn", format, args...)
	}
	at, err := arn.Parse(raw)
	switch {
	case err != nil || at.Service != service:
		return invalid("must be the ARN of %s, such as %s", noun, example)
	case at.Partition != partition:
		return invalid("must be in the partition %s, as this service is", partition)
	case !matches(regionShape, at.Region):
		return invalid("must name a region, such as %s", example)
	case !matches(accountShape, at.AccountID):
		return invalid("must name an account by 12 digits, such as %s", example)
	case of == KindSQS && strings.HasSuffix(at.Resource, ".fifo"):
		return invalid("must be a standard queue: events come in no certain order and may come twice, so that a FIFO " +
			"queue would promise what does not hold")
	case !matches(named, at.Resource):
		return invalid("must end with the name of %s, such as %s", noun, example)
	}
	return at, nil
}

// checkRole refuses a role that cannot be assumed, or that is another account's.
func checkRole(raw string, target arn.ARN) error {
	invalid := func(format string, args ...any) error { return errs.Invalid("/destination/role_arn", format, args...) }
	role, err := arn.Parse(raw)
	switch {
	case err != nil || role.Service != "iam" || role.Region != "" || !strings.HasPrefix(role.Resource, "role/"):
		return invalid("must be the ARN of a role, such as arn:aws:iam::111122223333:role/%sevents", RolePrefix)
	case role.Partition != target.Partition || role.AccountID != target.AccountID:
		return invalid("must be a role in the account of arn, %s", target.AccountID)
	case !matches(roleShape, role.Resource):
		return invalid("must be a role without a path whose name begins with %s: this service may assume no others",
			RolePrefix)
	}
	return nil
}

// destination is a place that takes the events of a webhook.
type destination interface {
	// send makes one attempt. It returns an error only if the attempt could not even
	// begin; everything else is an outcome.
	send(ctx context.Context, e outgoing) (Outcome, error)
}

// outgoing is an event that is sent to a destination.
type outgoing struct {
	id        string
	eventType event.Type
	body      []byte
	keys      EndpointKeys
	webhook   string // its id
	request   string // id of the API request that caused the event, empty if there is none
}

// headers returns the headers of an attempt with this body.
func (e *outgoing) headers(at time.Time, body []byte) map[string]string {
	all := map[string]string{
		"webhook-id": e.id, "webhook-timestamp": Timestamp(at), "webhook-signature": e.keys.Sign(e.id, at, body),
		"webhook-endpoint-id": e.webhook,
	}
	if e.request != "" {
		all["webhook-request-id"] = e.request
	}
	return all
}

func (d *Deliverer) destination(w *Webhook) destination {
	if t := w.Destination; t != nil {
		return deliverAccount{d.AWS, d.Now, AWSTarget{t.Kind, t.ARN, t.RoleARN, t.ExternalID, w.ID}}
	}
	return address{d.Client, d.Now, *w.URL}
}

// keptBody is the number of bytes of an answer's body that are kept.
const keptBody = 1 << 10

// Caller sends HTTP requests to addresses that are not to be trusted.
type Caller interface {
	Do(req *http.Request) (*http.Response, error)
}

var _ Caller = (*safehttp.Client)(nil)

type address struct {
	client Caller
	now    func() time.Time
	url    string
}

var _ destination = address{}

// send posts the event, signed.
func (a address) send(ctx context.Context, e outgoing) (Outcome, error) {
	at := a.now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(e.body))
	if err != nil {
		return Outcome{}, fmt.Errorf("webhook: make the request: %w", err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {UserAgent},
		// Receivers drop repeats by webhook-id, so net/http may repeat a request whose
		// kept connection turns out to be dead. An empty list is not sent.
		"Idempotency-Key": nil,
	}
	for name, value := range e.headers(at, e.body) {
		req.Header.Set(name, value)
	}

	o := Outcome{Attempt: Attempt{At: resource.Instant(at)}, Request: requestOf(a.url, req.Header, e.body)}
	resp, err := a.client.Do(req)
	if err == nil {
		var kept []byte
		kept, err = safehttp.ReadBody(resp, keptBody)
		o.Status, o.ResponseBody = &resp.StatusCode, resource.Text(text(kept))
		o.RetryAfter = retryAfter(resp.StatusCode, resp.Header, a.now())
	}
	o.LatencyMS = a.now().Sub(at).Milliseconds()
	if o.Status == nil || *o.Status < 200 || *o.Status > 299 {
		reason := describe(o.Status, err)
		o.Error = &reason
	}
	return o, nil
}

// requestOf returns a request as it is kept. Names of headers are in lower case.
func requestOf(address string, headers http.Header, body []byte) DeliveryRequest {
	all := map[string]string{}
	for name := range headers {
		if value := headers.Get(name); value != "" {
			all[strings.ToLower(name)] = value
		}
	}
	return DeliveryRequest{Address: address, Headers: all, Body: new(string(body))}
}

// describe returns why an attempt failed. If there is a status, an error in reading the body does not matter.
func describe(status *int, err error) string {
	switch {
	case status == nil:
		return safehttp.Describe(err)
	case *status >= 300 && *status <= 399:
		return fmt.Sprintf("The receiver answered with a redirect (%d), which is not followed.", *status)
	default:
		return strings.TrimSpace(fmt.Sprintf("The receiver answered %d %s", *status, http.StatusText(*status))) + "."
	}
}

// retryAfter returns the wait that an answer asks for, or 0 if it does not ask for a later attempt.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	return safehttp.RetryAfter(h, now)
}

// text returns the first bytes of an answer as valid UTF-8 without control characters, within the same bound.
func text(b []byte) string {
	// A character that the bound has cut in two is left out, not replaced.
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if last := b[len(b)-i]; utf8.RuneStart(last) {
			if !utf8.FullRune(b[len(b)-i:]) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return plain.ClipText(plain.Plain(string(b)), keptBody)
}

// AWSSender sends events to AWS accounts of customers.
type AWSSender interface {
	// Send makes one attempt within the time of its context. Whatever goes wrong is part of the answer.
	Send(ctx context.Context, to AWSTarget, e SignedEvent) AWSAnswer
}

// AWSTarget is a destination in an AWS account, and how it is reached.
type AWSTarget struct {
	Kind, ARN, RoleARN, ExternalID string
	// Session names us in the logs of the account.
	Session string
}

// SignedEvent is an event as it is sent.
type SignedEvent struct {
	Type string
	// At is when it happened.
	At time.Time
	// Headers are the headers of Standard Webhooks.
	Headers map[string]string
	Body    []byte
}

// AWSAnswer is the result of an attempt.
type AWSAnswer struct {
	// Status is the HTTP status of AWS, or nil if it did not answer.
	Status *int
	// Body is the part of the answer that is kept.
	Body string
	// Error names the problem that the customer has to fix. It is empty if the event was taken.
	Error string
}

// deliverAccount is a destination in a customer's AWS account.
type deliverAccount struct {
	sender AWSSender
	now    func() time.Time
	target AWSTarget
}

var _ destination = deliverAccount{}

// send sends the event, signed as it is for an address.
func (a deliverAccount) send(ctx context.Context, e outgoing) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	at, body := a.now(), withoutNoncharacters(e.body)
	happened, _ := id.Time(e.id) // event.New has made the id
	headers := e.headers(at, body)
	answer := a.sender.Send(ctx, a.target, SignedEvent{
		Type: string(e.eventType), At: happened, Body: body, Headers: headers,
	})
	o := Outcome{Attempt: Attempt{
		At: resource.Instant(at), Status: answer.Status,
		ResponseBody: resource.Text(text([]byte(answer.Body[:min(keptBody, len(answer.Body))]))),
		LatencyMS:    a.now().Sub(at).Milliseconds(),
	}, Request: DeliveryRequest{Address: a.target.ARN, Headers: headers, Body: new(string(body))}}
	if answer.Error != "" {
		o.Error = &answer.Error
	}
	return o, nil
}

// withoutNoncharacters escapes the two characters that are valid in JSON and that SQS refuses.
func withoutNoncharacters(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\uFFFE"), []byte(`\ufffe`))
	return bytes.ReplaceAll(body, []byte("\uFFFF"), []byte(`\uffff`))
}

// UserAgent is the User-Agent of the requests to receivers.
const UserAgent = "ContentAutomation-Webhooks/1.0"

// ClientOptions are the options of the client that checks and calls the addresses of webhooks.
func ClientOptions() safehttp.Options {
	return safehttp.Options{UserAgent: UserAgent, Timeout: AttemptTimeout}
}

// NewClient returns the client that checks and calls the addresses of webhooks.
func NewClient(allowLoopback bool) *safehttp.Client {
	o := ClientOptions()
	o.AllowLoopback = allowLoopback
	return safehttp.New(o)
}
