package awsdest

import (
	"crypto/md5" // SQS returns it, and the SDK compares it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/content-automation/api/pkg/area/webhook"
)

// fakeAWS implements the parts of STS, SQS and EventBridge that a sender needs, and records the entries that it
// receives.
type fakeAWS struct {
	*httptest.Server
	// plan answers the n-th call of an action, counted from 1, and reports whether it
	// did; nil means that every call succeeds.
	plan func(action string, n int, rw http.ResponseWriter) bool
	// lifetime is how long the credentials of roles hold.
	lifetime time.Duration

	mu    sync.Mutex
	calls []fakeCall
}

// fakeCall is a call that was made.
type fakeCall struct {
	action, key, region, service string
	form                         url.Values
	body                         map[string]any
}

// scope reads who has signed a call, and for which region and service.
var scope = regexp.MustCompile(`Credential=([^/]+)/\d+/([^/]+)/([^/]+)/aws4_request`)

func newFakeAWS(t *testing.T) *fakeAWS {
	f := &fakeAWS{lifetime: sessionTime}
	f.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		c := fakeCall{action: req.Header.Get("X-Amz-Target")}
		if m := scope.FindStringSubmatch(req.Header.Get("Authorization")); m != nil {
			c.key, c.region, c.service = m[1], m[2], m[3]
		}
		if c.action == "" {
			if c.form, err = url.ParseQuery(string(raw)); err != nil {
				t.Error(err)
			}
			c.action = c.form.Get("Action")
		} else if err := json.Unmarshal(raw, &c.body); err != nil {
			t.Error(err)
		}
		f.mu.Lock()
		f.calls = append(f.calls, c)
		n := 0
		for _, earlier := range f.calls {
			if earlier.action == c.action {
				n++
			}
		}
		f.mu.Unlock()
		if f.plan == nil || !f.plan(c.action, n, rw) {
			f.succeed(t, c, n, rw)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAWS) succeed(t *testing.T, c fakeCall, n int, rw http.ResponseWriter) {
	switch c.action {
	case "AssumeRole":
		fmt.Fprintf(rw, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::111122223333:assumed-role/a/b</Arn><AssumedRoleId>A:b</AssumedRoleId></AssumedRoleUser>`+
			`<Credentials><AccessKeyId>ROLE%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			n, time.Now().Add(f.lifetime).UTC().Format(time.RFC3339))
	case "AmazonSQS.SendMessage":
		text, _ := c.body["MessageBody"].(string)
		sum := md5.Sum([]byte(text))
		fmt.Fprintf(rw, `{"MessageId":"m%d","MD5OfMessageBody":%q}`, n, hex.EncodeToString(sum[:]))
	case "AWSEvents.PutEvents":
		fmt.Fprintf(rw, `{"FailedEntryCount":0,"Entries":[{"EventId":"e%d"}]}`, n)
	default:
		t.Errorf("unknown action %q", c.action)
		rw.WriteHeader(http.StatusBadRequest)
	}
}

// made returns the calls of an action.
func (f *fakeAWS) made(action string) (calls []fakeCall) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.action == action {
			calls = append(calls, c)
		}
	}
	return calls
}

// sender returns a Sender in eu-west-1 that calls the fake.
func (f *fakeAWS) sender() *Sender {
	return New(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &f.URL,
		Credentials: credentials.NewStaticCredentialsProvider("OURS", "s", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	})
}

// Where the tests send to.
var (
	queue = webhook.AWSTarget{
		Kind: webhook.KindSQS, ARN: "arn:aws:sqs:eu-central-1:111122223333:content",
		RoleARN: "arn:aws:iam::111122223333:role/content-automation-a", ExternalID: "EXTERNAL", Session: "whk_1",
	}
	bus = webhook.AWSTarget{
		Kind: webhook.KindEventBridge, ARN: "arn:aws:events:us-east-2:111122223333:event-bus/content",
		RoleARN: "arn:aws:iam::111122223333:role/content-automation-b", ExternalID: "OTHER", Session: "whk_2",
	}
	sample = webhook.SignedEvent{
		Type: "content.generated", At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		Headers: map[string]string{"webhook-id": "evt_1", "webhook-timestamp": "1777636800",
			"webhook-signature": "v1,abc"},
		Body: []byte(`{"id":"evt_1","text":"<&ü"}`),
	}
)

// refuse answers as AWS does in JSON.
func reject(rw http.ResponseWriter, status int, code, message string) bool {
	rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rw.WriteHeader(status)
	b, _ := json.Marshal(map[string]string{"__type": "com.amazonaws#" + code, "message": message})
	_, _ = rw.Write(b)
	return true
}

// refuseXML answers as STS does.
func rejectXML(rw http.ResponseWriter, status int, code string) bool {
	rw.WriteHeader(status)
	fmt.Fprintf(rw, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>No &lt;way&gt;</Message></Error><RequestId>r</RequestId></ErrorResponse>`, code)
	return true
}
