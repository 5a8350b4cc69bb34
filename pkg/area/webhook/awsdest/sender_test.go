package awsdest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
)

func TestAMessageIsSentByTheRoleOfTheCustomer(t *testing.T) {
	f := newFakeAWS(t)
	answer := f.sender().Send(t.Context(), queue, sample)
	if answer.Error != "" || answer.Status == nil || *answer.Status != 200 || answer.Body != `{"MessageId":"m1"}` {
		t.Errorf("answer %+v", answer)
	}
	assumed, sent := f.made("AssumeRole"), f.made("AmazonSQS.SendMessage")
	if len(assumed) != 1 || len(sent) != 1 {
		t.Fatalf("%d roles assumed, %d messages sent", len(assumed), len(sent))
	}
	a := assumed[0]
	if a.key != "OURS" || a.region != "eu-west-1" || a.service != "sts" || a.form.Get("RoleArn") != queue.RoleARN ||
		a.form.Get("ExternalId") != "EXTERNAL" ||
		a.form.Get("RoleSessionName") != "whk_1" || a.form.Get("DurationSeconds") != "900" {
		t.Errorf("assumed %+v", a)
	}
	m := sent[0]
	if m.key != "ROLE1" || m.region != "eu-central-1" || m.service != "sqs" ||
		m.body["MessageBody"] != string(sample.Body) ||
		m.body["QueueUrl"] != f.URL+"/111122223333/content" {
		t.Errorf("sent %+v", m)
	}
	attributes, _ := m.body["MessageAttributes"].(map[string]any)
	if len(attributes) != len(sample.Headers) {
		t.Errorf("attributes %v", attributes)
	}
	for name, value := range sample.Headers {
		if got := fmt.Sprint(attributes[name]); got != "map[DataType:String StringValue:"+value+"]" {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestAnEventIsPutByTheRoleOfTheCustomer(t *testing.T) {
	f := newFakeAWS(t)
	answer := f.sender().Send(t.Context(), bus, sample)
	if answer.Error != "" || answer.Status == nil || *answer.Status != 200 || answer.Body != `{"EventId":"e1"}` {
		t.Errorf("answer %+v", answer)
	}
	put := f.made("AWSEvents.PutEvents")
	if len(put) != 1 || put[0].key != "ROLE1" || put[0].region != "us-east-2" || put[0].service != "events" {
		t.Fatalf("put %+v", put)
	}
	entries, _ := put[0].body["Entries"].([]any)
	if len(entries) != 1 {
		t.Fatalf("entries %v", entries)
	}
	entry, _ := entries[0].(map[string]any)
	if entry["EventBusName"] != bus.ARN || entry["Source"] != "content-automation.webhooks" ||
		entry["DetailType"] != "content.generated" ||
		entry["Detail"] != string(sample.Body) || entry["Time"] != float64(sample.At.Unix()) ||
		entry["Resources"] != nil {
		t.Errorf("entry %v", entry)
	}
}

func TestARoleIsAssumedOnceForManyAttempts(t *testing.T) {
	f := newFakeAWS(t)
	s := f.sender()
	send := func(to webhook.AWSTarget) {
		if answer := s.Send(t.Context(), to, sample); answer.Error != "" {
			t.Errorf("answer %+v", answer)
		}
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { send(queue) })
	}
	all.Wait()
	send(queue)
	if n := len(f.made("AssumeRole")); n != 1 {
		t.Errorf("the role was assumed %d times", n)
	}
	// Another webhook that names the same role has an external id of its own.
	other := queue
	other.ExternalID = "ANOTHER"
	send(other)
	if got := f.made("AssumeRole"); len(got) != 2 || got[1].form.Get("ExternalId") != "ANOTHER" {
		t.Errorf("assumed %+v", got)
	}
}

func TestCredentialsAreRefreshedBeforeTheyEnd(t *testing.T) {
	f := newFakeAWS(t)
	f.lifetime = refresh - time.Second
	s := f.sender()
	for range 2 {
		s.Send(t.Context(), queue, sample)
	}
	sent := f.made("AmazonSQS.SendMessage")
	if len(sent) != 2 || sent[0].key == sent[1].key {
		t.Errorf("sent %+v", sent)
	}
}

func TestCredentialsThatAWSForgotAreMadeAnew(t *testing.T) {
	f := newFakeAWS(t)
	f.plan = func(action string, n int, rw http.ResponseWriter) bool {
		return action == "AmazonSQS.SendMessage" && n == 1 && reject(rw, 403, "InvalidClientTokenId",
			"The security token included in the request is invalid.")
	}
	s := f.sender()
	if answer := s.Send(t.Context(), queue, sample); *answer.Status != 403 ||
		answer.Error != "AWS refused the event. (InvalidClientTokenId)" {
		t.Errorf("first %+v", answer)
	}
	if answer := s.Send(t.Context(), queue, sample); answer.Error != "" ||
		f.made("AmazonSQS.SendMessage")[1].key != "ROLE2" {
		t.Errorf("second %+v", answer)
	}
}

func TestTheSessionsThatAreKeptAreBounded(t *testing.T) {
	s := newFakeAWS(t).sender()
	first := s.sessions.credentials(queue)
	if s.sessions.credentials(queue) != first {
		t.Error("the credentials are not kept")
	}
	for i := range maxSessions {
		other := queue
		other.Session = fmt.Sprint(i)
		s.sessions.credentials(other)
		if n := len(s.sessions.of); n > maxSessions {
			t.Fatalf("%d sessions", n)
		}
	}
	if s.sessions.credentials(queue) == first {
		t.Error("the credentials are kept for ever")
	}
}

func TestADeadConnectionIsOpenedAnew(t *testing.T) {
	f := newFakeAWS(t)
	f.plan = func(action string, n int, rw http.ResponseWriter) bool {
		if action != "AmazonSQS.SendMessage" || n != 2 {
			return false
		}
		// As a server does that closes a connection while a request is on its way.
		conn, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_ = conn.Close()
		return true
	}
	s := f.sender()
	for range 2 {
		if answer := s.Send(t.Context(), queue, sample); answer.Error != "" {
			t.Errorf("answer %+v", answer)
		}
	}
}

// TestAnAttemptEndsWithItsTime has an AWS that does not answer, once for each call.
func TestAnAttemptEndsWithItsTime(t *testing.T) {
	for _, mute := range []string{"AssumeRole", "AmazonSQS.SendMessage"} {
		f := newFakeAWS(t)
		ended := make(chan struct{})
		f.plan = func(action string, _ int, _ http.ResponseWriter) bool {
			if action == mute {
				<-ended
			}
			return action == mute
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		answer := f.sender().Send(ctx, queue, sample)
		cancel()
		close(ended)
		if answer.Status != nil || answer.Error != "AWS did not answer in time." || answer.Body != "" {
			t.Errorf("%s: answer %+v", mute, answer)
		}
	}
}

func TestAnAWSThatIsNotThere(t *testing.T) {
	f := newFakeAWS(t)
	s := f.sender()
	f.Close()
	if answer := s.Send(t.Context(), queue, sample); answer.Status != nil ||
		!strings.HasPrefix(answer.Error, "AWS could not be reached") {
		t.Errorf("answer %+v", answer)
	}
}
