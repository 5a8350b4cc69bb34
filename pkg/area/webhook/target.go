package webhook

import (
	"encoding/base32"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
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

// targetSettings are the members of a destination that can be changed.
type targetSettings struct {
	ARN     string `json:"arn"`
	RoleARN string `json:"role_arn"`
}

func targetSettingsOf(t *Target) *targetSettings {
	if t == nil {
		return nil
	}
	return &targetSettings{t.ARN, t.RoleARN}
}

// externalIDBytes is the length of the randomness in an external id.
const externalIDBytes = 16

// newTarget returns a destination with an external id of its own.
func (s *Service) newTarget(body destinationBody) (*Target, error) {
	t := &Target{Kind: body.Kind}
	if err := s.aim(t, targetSettings{body.ARN, body.RoleARN}); err != nil {
		return nil, err
	}
	random := make([]byte, externalIDBytes)
	if _, err := io.ReadFull(s.random, random); err != nil {
		return nil, fmt.Errorf("webhook: read randomness: %w", err)
	}
	t.ExternalID = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random)
	return t, nil
}

// aim changes a destination to the settings, or refuses them.
func (s *Service) aim(t *Target, set targetSettings) error {
	at, err := parseTarget(t.Kind, set.ARN, s.principal.Partition)
	if err != nil {
		return err
	}
	// The role is in the same account, or checkRole has refused it.
	if at.AccountID == s.principal.AccountID {
		return errs.Invalid("/destination/arn", "must be in an AWS account of your own, not in the account of this "+
			"service, %s", at.AccountID)
	}
	if err := checkRole(set.RoleARN, at); err != nil {
		return err
	}
	t.ARN, t.RoleARN, t.Region, t.PrincipalARN = set.ARN, set.RoleARN, at.Region, s.principal.String()
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
