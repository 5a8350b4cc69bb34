package awsdest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/webhook"
)

// TestWhatFailedAndWhatToMend makes AWS refuse in all its ways, and checks the log of
// deliveries.
func TestWhatFailedAndWhatToMend(t *testing.T) {
	entry := func(code, message string) func(http.ResponseWriter) bool {
		return func(rw http.ResponseWriter) bool {
			_, _ = rw.Write([]byte(`{"FailedEntryCount":1,"Entries":[{"ErrorCode":"` + code +
				`","ErrorMessage":"` + message + `"}]}`))
			return true
		}
	}
	json := func(status int, code, message string) func(http.ResponseWriter) bool {
		return func(rw http.ResponseWriter) bool { return reject(rw, status, code, message) }
	}
	xml := func(status int, code string) func(http.ResponseWriter) bool {
		return func(rw http.ResponseWriter) bool { return rejectXML(rw, status, code) }
	}
	const assume, send, put = "AssumeRole", "AmazonSQS.SendMessage", "AWSEvents.PutEvents"
	for name, c := range map[string]struct {
		to     webhook.AWSTarget
		action string
		answer func(http.ResponseWriter) bool
		status int
		says   []string
		body   string
	}{
		"no trust": {queue, assume, xml(403, "AccessDenied"), 403,
			[]string{queue.RoleARN, "trust policy", "principal_arn", "external_id", "(AccessDenied)"},
			`{"Code":"AccessDenied","Message":"No <way>"}`},
		"no trust, a bus": {bus, assume, xml(403, "AccessDenied"), 403, []string{bus.RoleARN, "trust policy"},
			"AccessDenied"},
		"region is off": {queue, assume, xml(403, "RegionDisabledException"), 403, []string{"Activate STS"},
			"RegionDisabledException"},
		"our own keys": {queue, assume, xml(403, "ExpiredToken"), 403,
			[]string{"could not be assumed. (ExpiredToken)"}, "ExpiredToken"},
		"too many roles": {queue, assume, xml(400, "Throttling"), 400, []string{"accepts no more calls"},
			"Throttling"},

		"no permission to send": {queue, send, json(403, "AccessDenied", "User: a is not authorized"), 403,
			[]string{"sqs:SendMessage on " + queue.ARN, "kms:GenerateDataKey"}, "User: a is not authorized"},
		"no queue": {queue, send, json(400, "QueueDoesNotExist", "The specified queue does not exist."),
			400, []string{"There is no queue " + queue.ARN}, "QueueDoesNotExist"},
		"a key that is off": {queue, send, json(400, "KmsDisabled", "arn is disabled"), 400,
			[]string{"The key that encrypts " + queue.ARN, "kms:Decrypt"}, "KmsDisabled"},
		"a key that is busy": {queue, send, json(400, "KmsThrottled", "slow"), 400,
			[]string{"accepts no more calls"}, "KmsThrottled"},
		"too large": {queue, send, json(400, "InvalidParameterValue", "One or more parameters are invalid. Reason: "+
			"Message must be shorter than 262144 bytes."), 400,
			[]string{"larger than " + queue.ARN + " takes", "GET /v1/events/{event_id}"}, "262144"},
		"throttled": {queue, send, json(400, "RequestThrottled", "slow down"), 400,
			[]string{"accepts no more calls", "(RequestThrottled)"}, "slow down"},
		"broken": {queue, send, json(500, "InternalError", "oops"), 500,
			[]string{"AWS refused the event. (InternalError)"}, "oops"},
		"no JSON": {queue, send, func(rw http.ResponseWriter) bool {
			rw.WriteHeader(503)
			_,
				_ = rw.Write([]byte("<html>"))
			return true
		}, 503, []string{"not understood"}, ""},
		"other codes": {queue, send, json(400, "UnsupportedOperation", "no"), 400,
			[]string{"AWS refused the event. (UnsupportedOperation)"}, "no"},

		"no permission to put": {bus, put, json(400, "AccessDeniedException", "User: a is not authorized"), 400,
			[]string{"events:PutEvents on " + bus.ARN}, "User: a"},
		"no bus": {bus, put, json(400, "ResourceNotFoundException", "Event bus content does not exist."),
			400, []string{"There is no event bus " + bus.ARN}, "does not exist"},
		"too large for a bus": {bus, put, json(400, "ValidationException", "Total size of the entries in the "+
			"request is over the limit."), 400, []string{"larger than " + bus.ARN + " takes",
			"GET /v1/events/{event_id}"}, "over the limit"},
		"another bad request": {bus, put, json(400, "ValidationException", "1 validation error detected"), 400,
			[]string{"AWS refused the event. (ValidationException)"}, "1 validation error"},
		"an entry is refused": {bus, put, entry("NotAuthorizedForSourceException", "no"), 200,
			[]string{"events:PutEvents on " + bus.ARN}, `{"Code":"NotAuthorizedForSourceException","Message":"no"}`},
		"an entry is too many": {bus, put, entry("ThrottlingException", "slow"), 200,
			[]string{"accepts no more calls"}, "slow"},
		"an entry is broken": {bus, put, entry("InternalFailure", "oops"), 200,
			[]string{"AWS refused the event. (InternalFailure)"}, "oops"},
		"no word of the entry": {bus, put, func(rw http.ResponseWriter) bool {
			_, _ = rw.Write([]byte(`{"FailedEntryCount":0,"Entries":[]}`))
			return true
		}, 200, []string{"did not say whether"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAWS(t)
			f.plan = func(action string, _ int, rw http.ResponseWriter) bool {
				return action == c.action &&
					c.answer(rw)
			}
			answer := f.sender().Send(t.Context(), c.to, sample)
			if answer.Status == nil || *answer.Status != c.status {
				t.Errorf("status of %+v", answer)
			}
			for _, part := range c.says {
				if !strings.Contains(answer.Error, part) {
					t.Errorf("%q does not say %q", answer.Error, part)
				}
			}
			if !strings.Contains(answer.Body, c.body) {
				t.Errorf("kept %q", answer.Body)
			}
			if n := len(f.made(c.action)); n != 1 {
				t.Errorf("%d calls in one attempt", n)
			}
		})
	}
}
