package awsdest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/content-automation/api/pkg/area/webhook"
)

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

// failed returns the answer of a failed attempt: the error of AWS, and the advice to the owner of the destination.
func failed(to webhook.AWSTarget, p phase, err error) webhook.AWSAnswer {
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
		answer.Error = unanswered(err)
		return answer
	}
	answer.Body = show(map[string]string{"Code": api.ErrorCode(), "Message": api.ErrorMessage()})
	answer.Error = explain(to, p, api.ErrorCode(), api.ErrorMessage())
	return answer
}

// unanswered says why there is no answer to understand.
func unanswered(err error) string {
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
