package operate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/content-automation/api/infra/operate/preflight"
)

// formation is a CloudFormation with one stack.
type formation struct {
	statuses []string // of the stack, one for each read
	exists   bool
	denies   bool
	reason   string
	calls    []string
	template string
}

func (f *formation) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	action := form.Get("Action")
	f.calls = append(f.calls, action)
	status, answer := http.StatusOK, ""
	reject := func(code, says string) {
		status, answer = http.StatusBadRequest, "<ErrorResponse><Error><Code>"+code+"</Code><Message>"+says+
			"</Message></Error></ErrorResponse>"
	}
	switch {
	case action == "CreateStack" && f.denies:
		reject("AccessDenied", "not permitted")
	case action == "CreateStack":
		f.template, f.exists = form.Get("TemplateBody"), true
		answer = "<CreateStackResult><StackId>arn:stack</StackId></CreateStackResult>"
	case action == "DescribeStacks" && !f.exists:
		reject("ValidationError", "Stack does not exist")
	case action == "DescribeStacks":
		if answer = "<DescribeStacksResult><Stacks><member><StackName>p</StackName><CreationTime>2026-11-22T12:00:00Z</CreationTime><StackStatus>" + f.statuses[0] + "</StackStatus></member></Stacks></DescribeStacksResult>"; len(f.statuses) > 1 {
			f.statuses = f.statuses[1:]
		}
	case action == "DeleteStack":
		f.exists = false
	case action == "DescribeStackEvents":
		event := func(status, reason string) string {
			return "<member><EventId>1</EventId><StackId>arn:stack</StackId><StackName>p</StackName><Timestamp>2026-11-22T12:00:00Z</Timestamp><ResourceStatus>" + status + "</ResourceStatus><ResourceStatusReason>" + reason + "</ResourceStatusReason></member>"
		}
		answer = "<DescribeStackEventsResult><StackEvents>" + event("DELETE_COMPLETE", "") + event("CREATE_FAILED",
			"The following resource failed: [Function]") + event("CREATE_FAILED", f.reason) +
			event("CREATE_IN_PROGRESS", "User Initiated") + "</StackEvents></DescribeStackEventsResult>"
	}
	if status == http.StatusOK {
		answer = "<" + action + "Response>" + answer + "</" + action + "Response>"
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func TestAFunctionIsMadeAndRemoved(t *testing.T) {
	const refusal = "'MemorySize' value failed to satisfy constraint: Member must have value less than or equal to 3008"
	for name, c := range map[string]struct {
		in    formation
		want  string
		calls string
	}{
		"it is taken": {formation{statuses: []string{"CREATE_IN_PROGRESS", "CREATE_COMPLETE"}}, "",
			"DescribeStacks CreateStack DescribeStacks DescribeStacks DeleteStack"},
		"it is refused": {formation{statuses: []string{"DELETE_IN_PROGRESS"}, reason: refusal}, refusal,
			"DescribeStacks CreateStack DescribeStacks DescribeStackEvents DeleteStack"},
		"one was left": {formation{exists: true, statuses: []string{"CREATE_COMPLETE", "CREATE_COMPLETE"}}, "",
			"DescribeStacks DeleteStack DescribeStacks CreateStack DescribeStacks DeleteStack"},
	} {
		f := c.in
		waits := 0
		a := preflight.AWS{
			Config: aws.Config{Region: "eu-central-1", HTTPClient: &f,
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")},
			Wait: func(context.Context, time.Duration) error { waits++; return nil },
		}
		reason, err := a.Takes(t.Context(), "acme-prod-eu-central-1-preflight", "arn:boundary", 5308)
		if err != nil || reason != c.want || f.exists {
			t.Errorf("%s: %q, %v; it is there: %v", name, reason, err, f.exists)
		}
		if got := strings.Join(f.calls, " "); got != c.calls || waits != strings.Count(fmt.Sprint(c.in.statuses),
			"CREATE_IN_PROGRESS") {
			t.Errorf("%s: called %s, waited %d times", name, got, waits)
		}
		for _, want := range []string{`"MemorySize":5308`, `"PermissionsBoundary":"arn:boundary"`} {
			if !strings.Contains(f.template, want) {
				t.Errorf("%s: the template lacks %s: %s", name, want, f.template)
			}
		}
	}
	f := formation{denies: true}
	a := preflight.AWS{Config: aws.Config{Region: "eu-central-1", HTTPClient: &f,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}}
	if _, err := a.Takes(t.Context(), "p", "", 5308); !errors.Is(err, preflight.ErrDenied) ||
		slices.Contains(f.calls, "DeleteStack") {
		t.Errorf("without permission: %v, %v", err, f.calls)
	}
	local := "http://127.0.0.1:4566"
	a.Config.BaseEndpoint = &local
	if _, err := a.Takes(t.Context(), "p", "", 5308); !errors.Is(err, preflight.ErrUnsupported) {
		t.Errorf("on a local AWS: %v", err)
	}
}
